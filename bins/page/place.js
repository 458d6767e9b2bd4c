// The place's parts as shapes seen from above: outlines, faces and shadows, in studs (x to the right, z downwards).

const ROUND = 20;
const BOX = [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1], [-1, 1, -1], [1, 1, -1], [1, 1, 1], [-1, 1, 1]];
const BOX_FACES = [[4, 7, 6, 5], [0, 1, 2, 3], [0, 3, 7, 4], [1, 5, 6, 2], [0, 4, 5, 1], [3, 2, 6, 7]];
// A wedge is a box whose top edge at -z is gone: it rises towards +z.
const WEDGE = [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1], [1, 1, 1], [-1, 1, 1]];
const WEDGE_FACES = [[0, 5, 4, 1], [0, 1, 2, 3], [3, 2, 4, 5], [0, 3, 5], [1, 4, 2]];
const SUN = normalize([-0.45, 1, -0.35]);

/** Adds to a part what drawing it needs, for the pose it has now. */
export function shapeOf(part, position = part.pos, q = part.rot) {
  const half = part.size.map((edge) => edge / 2);
  switch (part.shape) {
    case "ball": return ballShape(position, Math.min(...half));
    case "cylinder": return solidShape(position, q, ...cylinder(half[1], Math.min(half[0], half[2])));
    case "capsule": return solidShape(position, q, ...cylinder(half[1], Math.min(...half)));
    case "hull": return hullShape(position, q, part.points);
    case "mesh": return solidShape(position, q, part.points, part.triangles);
    case "wedge": return solidShape(position, q, scaled(WEDGE, half), WEDGE_FACES);
    default: return solidShape(position, q, scaled(BOX, half), BOX_FACES);
  }
}

function scaled(points, half) {
  return points.map((point) => point.map((value, axis) => value * half[axis]));
}

/** A cylinder stands along its y axis. */
function cylinder(height, radius) {
  const points = [];
  for (const y of [-height, height]) {
    for (let step = 0; step < ROUND; step++) {
      const angle = (step / ROUND) * 2 * Math.PI;
      points.push([radius * Math.cos(angle), y, radius * Math.sin(angle)]);
    }
  }
  const ring = [...Array(ROUND).keys()];
  const faces = [ring, ring.map((step) => 2 * ROUND - 1 - step)];
  for (const step of ring) {
    const next = (step + 1) % ROUND;
    faces.push([step, step + ROUND, next + ROUND, next]);
  }
  return [points, faces];
}

function ballShape(position, radius) {
  const [x, y, z] = position;
  const rim = [...Array(ROUND).keys()].map((step) => {
    const angle = (step / ROUND) * 2 * Math.PI;
    return [x + radius * Math.cos(angle), y, z + radius * Math.sin(angle)];
  });
  return {
    top: y + radius, bottom: y - radius, outline: rim.map(([px, , pz]) => [px, pz]),
    faces: [{ points: rim.map(([px, , pz]) => [px, pz]), light: 0.95 }],
    corners: rim,
  };
}

/** A convex solid of many corners: its outline alone, lit as if flat. */
function hullShape(position, q, points) {
  const corners = points.map((point) => add(turn(q, point), position));
  const heights = corners.map((corner) => corner[1]);
  const outline = hull(corners.map(([x, , z]) => [x, z]));
  return { top: Math.max(...heights), bottom: Math.min(...heights), outline, faces: [{ points: outline, light: 0.92 }], corners };
}

function solidShape(position, q, points, faces) {
  const corners = points.map((point) => add(turn(q, point), position));
  const heights = corners.map((corner) => corner[1]);
  const centre = corners.reduce(add).map((value) => value / corners.length);
  const seen = [];
  for (const face of faces) {
    const ring = face.map((index) => corners[index]);
    const normal = outward(ring, centre);
    if (normal[1] > 0.02) {
      const height = ring.reduce((sum, corner) => sum + corner[1], 0) / ring.length;
      seen.push({ points: ring.map(([x, , z]) => [x, z]), light: lightOf(normal), height });
    }
  }
  seen.sort((a, b) => a.height - b.height);
  return { top: Math.max(...heights), bottom: Math.min(...heights), outline: hull(corners.map(([x, , z]) => [x, z])), faces: seen, corners };
}

/** Where a shape's shadow falls on a floor `floor` studs high. */
export function shadowOf(shape, floor) {
  const fallen = shape.corners.map(([x, y, z]) => {
    const height = Math.min(Math.max(y - floor, 0), 40);
    return [x - (SUN[0] / SUN[1]) * height * 0.55, z - (SUN[2] / SUN[1]) * height * 0.55];
  });
  return hull([...fallen, ...shape.outline]);
}

function outward(ring, centre) {
  const normal = normalize(cross(subtract(ring[1], ring[0]), subtract(ring[2], ring[0])));
  const away = subtract(ring[0], centre);
  return dot(normal, away) < 0 ? normal.map((value) => -value) : normal;
}

function lightOf(normal) {
  return 0.55 + 0.45 * Math.max(dot(normal, SUN), 0) / SUN[1];
}

/** Convex hull of points in the plane, counter-clockwise. */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const chain = [];
    for (const point of list) {
      while (chain.length > 1 && area(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function area(a, b, c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

export function turn([x, y, z, w], v) {
  const t = cross([x, y, z], v).map((value) => 2 * value);
  const u = cross([x, y, z], t);
  return [v[0] + w * t[0] + u[0], v[1] + w * t[1] + u[1], v[2] + w * t[2] + u[2]];
}

function add(a, b) { return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]; }
function subtract(a, b) { return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]; }
function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
function cross(a, b) { return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]; }
function normalize(v) {
  const length = Math.hypot(...v) || 1;
  return v.map((value) => value / length);
}
