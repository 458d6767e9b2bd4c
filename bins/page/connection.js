// The websocket to the lab: reconnects by itself, and says what state it is in.

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5000;

export class Connection {
  /** `on` holds `open`, `lost(seconds)`, `message(object)` and `frame(DataView)`. */
  constructor(url, on) {
    this.url = url;
    this.on = on;
    this.wait = FIRST_WAIT_MS;
    this.socket = null;
    this.open();
  }

  open() {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT_MS;
      this.on.open();
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.on.message(JSON.parse(data));
      else this.on.frame(new DataView(data));
    });
    socket.addEventListener("close", () => {
      this.socket = null;
      this.on.lost(this.wait / 1000);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 1.7, LONGEST_WAIT_MS);
    });
    this.socket = socket;
  }

  get ready() {
    return this.socket !== null && this.socket.readyState === WebSocket.OPEN;
  }

  send(object) {
    if (this.ready) this.socket.send(JSON.stringify(object));
  }
}
