// The live drawing from above.

import { botColor, palette, shade } from "./palette.js";
import { shadowOf, shapeOf } from "./place.js";

const ZOOM = { least: 1.5, most: 48, first: 13 };
const FOLLOW_PER_S = 9;
const BODY_STUDS = 1.25;
const ROOF_ALPHA = 0.3;

export class View {
  constructor(canvas, map) {
    this.canvas = canvas;
    this.map = map;
    this.context = canvas.getContext("2d", { alpha: false });
    this.camera = { x: 0, z: 0, scale: ZOOM.first };
    this.goal = ZOOM.first;
    this.parts = [];
    this.moving = new Map();
    this.names = new Map();
    this.shown = { own: true, truth: true, seen: true, owners: true, names: false };
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.dark = false;
    this.found = false;
    canvas.addEventListener("wheel", (event) => this.zoom(event), { passive: false });
    canvas.addEventListener("pointerdown", () => canvas.focus());
  }

  zoom(event) {
    event.preventDefault();
    const by = Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015));
    this.goal = Math.min(Math.max(this.goal * by, ZOOM.least), ZOOM.most);
  }

  setDark(dark) {
    this.dark = dark;
    this.colors = palette(dark);
    this.paint();
  }

  setPlace(place) {
    this.place = place;
    this.found = false;
    this.moving.clear();
    this.parts = place.parts.map((part) => ({ part, shape: shapeOf(part) }));
    for (const entry of this.parts) if (entry.part.moving) this.moving.set(entry.part.id, entry);
    this.paint();
  }

  /** Prepares paths and colours of everything; called when the place or the colours change. */
  paint() {
    for (const entry of this.parts) this.paintPart(entry);
    this.standing = this.parts.filter((entry) => !entry.part.moving).sort((a, b) => a.shape.top - b.shape.top);
    this.drawMap();
  }

  paintPart(entry) {
    const { part, shape } = entry;
    entry.outline = pathOf(shape.outline);
    entry.shadow = pathOf(shadowOf(shape, Math.min(shape.bottom, 0)));
    entry.casts = shape.top - Math.min(shape.bottom, 0) > 0.3;
    entry.faces = shape.faces.map((face) => ({ path: pathOf(face.points), fill: shade(part.color, face.light, face.height ?? shape.top, this.colors) }));
    const [xs, zs] = [shape.outline.map(([x]) => x), shape.outline.map(([, z]) => z)];
    entry.bounds = [Math.min(...xs), Math.min(...zs), Math.max(...xs), Math.max(...zs)];
  }

  move(parts) {
    for (const [id, pose] of parts) {
      const entry = this.moving.get(id);
      if (!entry) continue;
      entry.shape = shapeOf(entry.part, [pose.x, pose.y, pose.z], pose.q);
      entry.owner = pose.owner;
      this.paintPart(entry);
    }
  }

  fit() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(innerWidth * ratio), Math.round(innerHeight * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    return ratio;
  }

  follow(frame, seconds) {
    const share = this.calm.matches ? 1 : 1 - Math.exp(-FOLLOW_PER_S * seconds);
    this.camera.scale += (this.goal - this.camera.scale) * share;
    if (!frame?.own) return;
    const { x, z } = frame.own;
    const far = Math.hypot(x - this.camera.x, z - this.camera.z) > 60;
    const step = !this.found || far ? 1 : share;
    this.found = true;
    this.camera.x += (x - this.camera.x) * step;
    this.camera.z += (z - this.camera.z) * step;
  }

  draw(frame, seconds) {
    const ratio = this.fit();
    this.follow(frame, seconds);
    if (frame) this.move(frame.parts);
    const { context, camera, canvas, colors } = this;
    const scale = camera.scale * ratio;
    // The panel covers the right edge: the middle of what is left is where the character stands.
    const middle = (canvas.width - (innerWidth > 720 ? 310 * ratio : 0)) / 2;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colors.ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, middle - camera.x * scale, canvas.height / 2 - camera.z * scale);
    this.pixel = 1 / camera.scale;
    this.window = [camera.x - middle / scale, camera.z - canvas.height / 2 / scale, camera.x + (canvas.width - middle) / scale, camera.z + canvas.height / 2 / scale];
    this.drawGrid();
    this.drawWorld(frame);
    if (frame) this.drawOwn(frame);
    if (frame && this.shown.names) this.drawNames(frame);
    this.drawDots(frame);
  }

  drawGrid() {
    if (this.camera.scale < 4) return;
    const { context } = this;
    const [left, top, right, bottom] = this.window;
    const step = 4;
    context.beginPath();
    for (let x = Math.ceil(left / step) * step; x < right; x += step) { context.moveTo(x, top); context.lineTo(x, bottom); }
    for (let z = Math.ceil(top / step) * step; z < bottom; z += step) { context.moveTo(left, z); context.lineTo(right, z); }
    context.lineWidth = this.pixel;
    context.strokeStyle = this.colors.grid;
    context.stroke();
  }

  visible({ bounds }) {
    const [left, top, right, bottom] = this.window;
    return bounds[2] > left - 30 && bounds[0] < right + 30 && bounds[3] > top - 30 && bounds[1] < bottom + 30;
  }

  /** Parts and characters, lowest first, so that whoever stands under a roof is hidden by it. */
  drawWorld(frame) {
    const things = this.standing?.filter((entry) => this.visible(entry)).map((entry) => ({ height: entry.shape.top, entry })) ?? [];
    for (const entry of this.moving.values()) if (this.visible(entry)) things.push({ height: entry.shape.top, entry });
    for (const [id, pose] of frame?.characters ?? []) things.push({ height: pose.y, id, pose });
    things.sort((a, b) => a.height - b.height);
    for (const { entry, id, pose } of things) {
      if (pose) this.drawBody(pose, botColor(id, this.dark));
      else this.drawPart(entry, frame?.own);
    }
  }

  drawPart(entry, own) {
    const { context } = this;
    if (entry.casts && entry.part.opacity > 0.5) {
      context.fillStyle = this.colors.shadow;
      context.fill(entry.shadow);
    }
    context.globalAlpha = entry.part.opacity * (own && covers(entry, own) ? ROOF_ALPHA : 1);
    for (const face of entry.faces) {
      context.fillStyle = face.fill;
      context.fill(face.path);
    }
    context.lineWidth = Math.max(this.pixel, 0.06);
    context.strokeStyle = this.colors.edge;
    context.stroke(entry.outline);
    this.drawOwner(entry);
    context.globalAlpha = 1;
  }

  /** Whoever simulates a loose part draws its outline; the server's have none. */
  drawOwner({ owner, outline }) {
    if (!owner || !this.shown.owners) return;
    const { context, colors } = this;
    context.setLineDash(owner === 1 ? [] : [0.55, 0.4]);
    context.lineWidth = Math.max(2.5 * this.pixel, 0.22);
    context.strokeStyle = owner === 1 ? colors.own : colors.ownedByOther;
    context.stroke(outline);
    context.setLineDash([]);
  }

  drawBody(pose, fill) {
    const { context, colors } = this;
    context.save();
    context.translate(pose.x, pose.z);
    context.fillStyle = colors.shadow;
    context.beginPath();
    context.arc(0.35, 0.3, BODY_STUDS, 0, 7);
    context.fill();
    context.rotate(-pose.yaw);
    context.fillStyle = fill;
    context.beginPath();
    context.arc(0, 0, BODY_STUDS, 0, 7);
    context.fill();
    context.lineWidth = 0.16;
    context.strokeStyle = colors.ink;
    context.stroke();
    this.nose();
    context.fillStyle = colors.ink;
    context.fill();
    context.restore();
  }

  /** An arrow head towards where yaw 0 looks: -z, upwards on the screen. */
  nose() {
    const { context } = this;
    context.beginPath();
    context.moveTo(0, -0.95);
    context.lineTo(0.55, 0.2);
    context.lineTo(0, -0.08);
    context.lineTo(-0.55, 0.2);
    context.closePath();
  }

  drawOwn(frame) {
    const { colors, shown } = this;
    if (shown.own && frame.own) {
      this.drawBody(frame.own, colors.own);
      this.ring(frame.own, colors.own, BODY_STUDS + 0.45, [], 0.2);
    }
    if (shown.truth && frame.truth) this.ghost(frame.truth, colors.truth, []);
    if (shown.seen && frame.seen) this.ghost(frame.seen, colors.seen, [0.55, 0.4]);
  }

  ghost(pose, color, dash) {
    const { context } = this;
    this.ring(pose, color, BODY_STUDS, dash, 0.26);
    context.save();
    context.translate(pose.x, pose.z);
    context.rotate(-pose.yaw);
    this.nose();
    context.lineWidth = 0.14;
    context.strokeStyle = color;
    context.stroke();
    context.restore();
  }

  ring(pose, color, radius, dash, width) {
    const { context } = this;
    context.beginPath();
    context.arc(pose.x, pose.z, radius, 0, 7);
    context.setLineDash(dash);
    context.lineWidth = Math.max(width, 1.5 * this.pixel);
    context.strokeStyle = color;
    context.stroke();
    context.setLineDash([]);
  }

  drawNames(frame) {
    const { context, colors } = this;
    context.font = `500 ${12 * this.pixel}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.lineJoin = "round";
    for (const [id, pose] of frame.characters) {
      const name = this.names.get(id);
      if (!name) continue;
      const [x, y] = [pose.x, pose.z - BODY_STUDS - 5 * this.pixel];
      context.lineWidth = 3 * this.pixel;
      context.strokeStyle = colors.halo;
      context.strokeText(name, x, y);
      context.fillStyle = colors.name;
      context.fillText(name, x, y);
    }
  }

  /** The map's parts, drawn once. */
  drawMap() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const size = Math.round(168 * ratio);
    Object.assign(this.map, { width: size, height: size });
    this.ground = document.createElement("canvas");
    Object.assign(this.ground, { width: size, height: size });
    if (!this.standing?.length) return;
    const bounds = this.parts.map((entry) => entry.bounds);
    const low = Math.min(...bounds.flatMap(([left, top]) => [left, top]));
    const high = Math.max(...bounds.flatMap(([, , right, bottom]) => [right, bottom]));
    const scale = (size * 0.94) / (high - low);
    this.toMap = [scale, size / 2 - ((low + high) / 2) * scale];
    const context = this.ground.getContext("2d");
    context.setTransform(scale, 0, 0, scale, this.toMap[1], this.toMap[1]);
    for (const entry of this.standing) {
      for (const face of entry.faces) {
        context.fillStyle = face.fill;
        context.fill(face.path);
      }
    }
  }

  drawDots(frame) {
    if (!this.ground?.width || !this.toMap) return;
    const context = this.map.getContext("2d");
    const [scale, shift] = this.toMap;
    const ratio = this.map.width / 168;
    context.clearRect(0, 0, this.map.width, this.map.height);
    context.drawImage(this.ground, 0, 0);
    const dot = (pose, radius, color) => {
      context.beginPath();
      context.arc(pose.x * scale + shift, pose.z * scale + shift, radius * ratio, 0, 7);
      context.fillStyle = color;
      context.fill();
    };
    for (const [id, pose] of frame?.characters ?? []) dot(pose, 1.6, botColor(id, this.dark));
    if (frame?.own) {
      dot(frame.own, 4.2, this.colors.ink);
      dot(frame.own, 3, this.colors.own);
    }
  }
}

/** Whether a part is a roof over `own`. */
function covers({ shape, bounds }, own) {
  const margin = BODY_STUDS;
  const inside = own.x > bounds[0] - margin && own.x < bounds[2] + margin && own.z > bounds[1] - margin && own.z < bounds[3] + margin;
  return inside && shape.bottom > own.y;
}

function pathOf(points) {
  const path = new Path2D();
  points.forEach(([x, z], index) => (index === 0 ? path.moveTo(x, z) : path.lineTo(x, z)));
  path.closePath();
  return path;
}
