// A minute of one measurement as a small graph.

const KEPT = 240;

export class Sparkline {
  /** `lines` are `{ color, fill }` by CSS variable; `floor` is the least top of the scale. */
  constructor(figure, lines, floor) {
    this.canvas = figure.querySelector("canvas");
    this.output = figure.querySelector("output");
    this.lines = lines;
    this.floor = floor;
    this.values = lines.map(() => []);
  }

  clear() {
    this.values = this.lines.map(() => []);
  }

  push(text, ...values) {
    this.output.textContent = text;
    values.forEach((value, index) => {
      this.values[index].push(Number.isFinite(value) ? value : 0);
      if (this.values[index].length > KEPT) this.values[index].shift();
    });
    this.draw();
  }

  draw() {
    const { canvas } = this;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    if (width === 0) return;
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const top = Math.max(this.floor, ...this.values.flat()) * 1.08;
    context.fillStyle = style.getPropertyValue("--line");
    context.fillRect(0, height - ratio, width, ratio);
    this.lines.forEach(({ color, fill }, index) => {
      const values = this.values[index];
      const x = (at) => width - ((values.length - 1 - at) / (KEPT - 1)) * width;
      const y = (value) => height - ratio - (value / top) * (height - 3 * ratio);
      context.beginPath();
      values.forEach((value, at) => context.lineTo(x(at), y(value)));
      context.lineWidth = 1.5 * ratio;
      context.lineJoin = "round";
      context.strokeStyle = style.getPropertyValue(color);
      context.stroke();
      if (!fill || values.length === 0) return;
      context.lineTo(width, height);
      context.lineTo(x(0), height);
      context.globalAlpha = 0.14;
      context.fillStyle = style.getPropertyValue(color);
      context.fill();
      context.globalAlpha = 1;
    });
  }
}
