// Colours of the drawing, for light and dark.

const LIGHT = {
  ground: "#cfdcdc", grid: "#0b30380f", shadow: "#12303a2e", edge: "#0c252c2b", high: [255, 255, 255], low: [70, 96, 108],
  lift: 0.26, sink: 0.34, gain: 1, name: "#16242b", halo: "#ffffffc0", ink: "#ffffff", own: "#0e7c8b", truth: "#d97706", seen: "#7c4dd6",
  ownedByOther: "#c2417c",
};
const DARK = {
  ground: "#0a1317", grid: "#d8f1f60c", shadow: "#00000066", edge: "#00000055", high: [190, 222, 230], low: [6, 14, 18],
  lift: 0.2, sink: 0.45, gain: 0.62, name: "#e4eef1", halo: "#0a1317c0", ink: "#0a1317", own: "#46c4d3", truth: "#ffab40", seen: "#b692ff",
  ownedByOther: "#ff8ab8",
};

export function palette(dark) {
  return dark ? DARK : LIGHT;
}

/** A part's colour under `light`, at `height` studs: higher is lighter, as on a relief map. */
export function shade(color, light, height, colors) {
  const rise = Math.tanh(height / 40);
  const toward = rise > 0 ? colors.high : colors.low;
  const share = rise > 0 ? rise * colors.lift : -rise * colors.sink;
  const mixed = color.map((value, index) => {
    const lit = value * light * colors.gain;
    return Math.round(Math.min(lit + (toward[index] - lit) * share, 255));
  });
  return `rgb(${mixed.join(" ")})`;
}

/** A bot's colour: always the same for an id, and neighbours differ. */
export function botColor(id, dark) {
  const hue = (Number(id) * 137.508) % 360;
  return dark ? `hsl(${hue} 42% 66%)` : `hsl(${hue} 46% 46%)`;
}
