// Held keys, as a direction in the camera's axes and buttons.

const MOVES = {
  KeyW: [0, 1], ArrowUp: [0, 1],
  KeyS: [0, -1], ArrowDown: [0, -1],
  KeyA: [-1, 0], ArrowLeft: [-1, 0],
  KeyD: [1, 0], ArrowRight: [1, 0],
};
const BUTTONS = { Space: "jump", ShiftLeft: "sprint", ShiftRight: "sprint", KeyQ: "dash", KeyE: "dash" };
const RESEND_MS = 250;

export class Keyboard {
  /** Calls `changed` at each change, and now and then while a key is held. */
  constructor(changed) {
    this.held = new Set();
    this.changed = changed;
    addEventListener("keydown", (event) => this.press(event));
    addEventListener("keyup", (event) => this.release(event.code));
    addEventListener("blur", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => document.hidden && this.releaseAll());
    setInterval(() => this.held.size > 0 && this.changed(this.input()), RESEND_MS);
  }

  press(event) {
    const known = event.code in MOVES || event.code in BUTTONS;
    const typing = event.target instanceof Element && event.target.closest("button, summary, input");
    const takesKey = typing && !event.code.startsWith("Key") && !event.code.startsWith("Shift");
    if (!known || takesKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.repeat || this.held.has(event.code)) return;
    this.held.add(event.code);
    this.changed(this.input());
  }

  release(code) {
    if (this.held.delete(code)) this.changed(this.input());
  }

  releaseAll() {
    if (this.held.size === 0) return;
    this.held.clear();
    this.changed(this.input());
  }

  input() {
    const input = { x: 0, y: 0, jump: false, sprint: false, dash: false };
    for (const code of this.held) {
      const [x, y] = MOVES[code] ?? [0, 0];
      input.x += x;
      input.y += y;
      if (code in BUTTONS) input[BUTTONS[code]] = true;
    }
    input.x = Math.sign(input.x);
    input.y = Math.sign(input.y);
    return input;
  }
}
