// Frames from the lab: decoded, kept for a moment, and blended, so that drawing is even however they arrive.

const KEPT = 16;
const BEHIND_MS = 28;
const SETTLE = 0.02;
const PLACE_JUMP = 12;

/** Decodes one binary frame; the layout is that of `bins/src/lab/frames.rs`. */
export function decode(view) {
  let at = 0;
  const f32 = () => { const value = view.getFloat32(at, true); at += 4; return value; };
  const u32 = () => { const value = view.getUint32(at, true); at += 4; return value; };
  const u16 = () => { const value = view.getUint16(at, true); at += 2; return value; };
  const u8 = () => view.getUint8(at++);
  const pose = () => ({ x: f32(), y: f32(), z: f32(), yaw: f32() });
  if (u8() !== 1) return null;
  const time = view.getFloat64(at, true);
  at += 8;
  const present = u8();
  const frame = { time, own: null, truth: null, seen: null, characters: new Map(), parts: new Map() };
  if (present & 1) frame.own = pose();
  if (present & 2) frame.truth = pose();
  if (present & 4) frame.seen = pose();
  for (let count = u16(); count > 0; count--) {
    const id = u32();
    frame.characters.set(id, pose());
  }
  for (let count = u16(); count > 0; count--) {
    const id = u32();
    frame.parts.set(id, { x: f32(), y: f32(), z: f32(), q: [f32(), f32(), f32(), f32()], owner: u8() });
  }
  return frame;
}

export class Frames {
  constructor() {
    this.clear();
  }

  clear() {
    this.kept = [];
    this.offset = null;
    this.played = 0;
  }

  push(frame, arrival) {
    if (frame === null) return;
    const last = this.kept.at(-1);
    if (last && frame.time <= last.time) this.clear();
    this.kept.push(frame);
    if (this.kept.length > KEPT) this.kept.shift();
    const offset = arrival - frame.time;
    if (this.offset === null || offset < this.offset) this.offset = offset;
    else this.offset += (offset - this.offset) * SETTLE;
  }

  /** What to draw at `now`, or null before the first frame. */
  at(now) {
    if (this.kept.length === 0) return null;
    this.played = Math.max(this.played, now - this.offset - BEHIND_MS);
    const time = this.played;
    let next = this.kept.findIndex((frame) => frame.time > time);
    if (next === 0) return this.kept[0];
    if (next < 0) return this.kept.at(-1);
    const [a, b] = [this.kept[next - 1], this.kept[next]];
    return blend(a, b, (time - a.time) / (b.time - a.time));
  }
}

function blend(a, b, share) {
  const characters = new Map();
  for (const [id, pose] of b.characters) characters.set(id, mixPose(a.characters.get(id), pose, share));
  const parts = new Map();
  for (const [id, pose] of b.parts) parts.set(id, mixPart(a.parts.get(id), pose, share));
  return {
    time: a.time + (b.time - a.time) * share,
    own: mixPose(a.own, b.own, share),
    truth: mixPose(a.truth, b.truth, share),
    seen: mixPose(a.seen, b.seen, share),
    characters,
    parts,
  };
}

function apart(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
}

function mixPose(a, b, share) {
  if (!a || !b || apart(a, b) > PLACE_JUMP) return b;
  const turn = Math.atan2(Math.sin(b.yaw - a.yaw), Math.cos(b.yaw - a.yaw));
  return { x: mix(a.x, b.x, share), y: mix(a.y, b.y, share), z: mix(a.z, b.z, share), yaw: a.yaw + turn * share };
}

function mixPart(a, b, share) {
  if (!a || apart(a, b) > PLACE_JUMP) return b;
  const sign = a.q.reduce((sum, value, index) => sum + value * b.q[index], 0) < 0 ? -1 : 1;
  const q = a.q.map((value, index) => mix(value, sign * b.q[index], share));
  const length = Math.hypot(...q) || 1;
  return { x: mix(a.x, b.x, share), y: mix(a.y, b.y, share), z: mix(a.z, b.z, share), q: q.map((value) => value / length), owner: b.owner };
}

function mix(a, b, share) {
  return a + (b - a) * share;
}
