// Sliders, switches and measurements at the right.

import { Sparkline } from "./sparkline.js";

const EVENTS_KEPT = 40;
const find = (id) => document.getElementById(id);

export class Panel {
  /** `link({ latency, jitter, loss })` is called when a slider moves, `shown(name, on)` when a switch does. */
  constructor(link, shown) {
    this.link = link;
    this.sliders = ["latency", "jitter", "loss"].map((name) => find(name));
    for (const slider of this.sliders) slider.addEventListener("input", () => this.linkChanged());
    for (const button of document.querySelectorAll("[data-link]")) {
      button.addEventListener("click", () => this.setLink(button.dataset.link.split(",").map(Number)));
    }
    for (const name of ["own", "truth", "seen", "owners", "names"]) {
      const box = find(`show-${name}`);
      box.addEventListener("change", () => shown(name, box.checked));
    }
    this.graphs = {
      tick: new Sparkline(find("graph-tick"), [{ color: "--faint" }, { color: "--sea", fill: true }], 2),
      corrections: new Sparkline(find("graph-corrections"), [{ color: "--warn", fill: true }], 4),
      bytes: new Sparkline(find("graph-bytes"), [{ color: "--sea", fill: true }, { color: "--truth" }], 4000),
      delay: new Sparkline(find("graph-delay"), [{ color: "--seen", fill: true }], 120),
    };
  }

  setLink(values) {
    this.sliders.forEach((slider, index) => (slider.value = values[index]));
    this.linkChanged();
  }

  linkChanged() {
    const [latency, jitter, loss] = this.sliders.map((slider) => Number(slider.value));
    find("latency-value").textContent = `${latency} ms`;
    find("jitter-value").textContent = `${jitter} ms`;
    find("loss-value").textContent = `${loss} %`;
    this.link({ latency, jitter, loss });
  }

  clear() {
    for (const graph of Object.values(this.graphs)) graph.clear();
    find("events").innerHTML = '<li class="none">None so far.</li>';
  }

  stats({ tick, stages, client, server, events }) {
    this.graphs.tick.push(`p50 ${ms(tick.p50_ms)} · p99 ${ms(tick.p99_ms)}`, tick.p99_ms, tick.p50_ms);
    this.graphs.corrections.push(`${client.corrections} in all`, client.corrections_per_s);
    this.graphs.bytes.push(`↓ ${bytes(client.down_bytes_s)} · ↑ ${bytes(client.up_bytes_s)}`, client.down_bytes_s, client.up_bytes_s);
    this.graphs.delay.push(`${Math.round(client.playback_delay_ms)} ms`, client.playback_delay_ms);
    const facts = {
      "Round trip": `${Math.round(client.rtt_ms)} ms`,
      "Measured loss": `${(client.loss * 100).toFixed(1)} %`,
      "Players": server.players,
      "Motion sent to all": bytes(server.motion_bytes_s),
      "Corrections of all": server.corrections,
    };
    find("facts").innerHTML = Object.entries(facts).map(([key, value]) => `<dt>${key}</dt><dd>${value}</dd>`).join("");
    this.stages(stages);
    this.kinds(client.kinds);
    for (const event of events) this.event(event);
  }

  stages(stages) {
    const most = Math.max(...stages.map((stage) => stage.us), 1);
    const row = ({ name, us }) =>
      `<tr><th scope="row">${name}</th><td>${us.toFixed(0)} µs</td><td class="meter"><i style="width:${(us / most) * 100}%"></i></td></tr>`;
    find("stages").tBodies[0].innerHTML = stages.map(row).join("");
  }

  kinds(kinds) {
    const row = ({ name, down, up }) => `<tr><th scope="row">${name}</th><td>${bytes(down)}</td><td>${bytes(up)}</td></tr>`;
    find("kinds").tBodies[0].innerHTML = kinds.map(row).join("");
  }

  event({ at_s, cause, amount }) {
    const list = find("events");
    list.querySelector(".none")?.remove();
    const item = document.createElement("li");
    const [time, what, size] = ["time", "span", "span"].map((tag) => document.createElement(tag));
    time.textContent = `${at_s.toFixed(1)} s`;
    what.textContent = cause;
    size.textContent = amount;
    item.append(time, what, size);
    list.prepend(item);
    while (list.children.length > EVENTS_KEPT) list.lastElementChild.remove();
  }

  /** How many loose parts are simulated here, and how many by others. */
  owners(parts) {
    const count = (owner) => [...parts.values()].filter((part) => part.owner === owner).length;
    const [own, others] = [count(1), count(2)];
    find("owned-count").textContent = own;
    find("others-count").textContent = others;
    document.body.dataset.owned = own;
  }

  /** How far the three views of the own character are apart. */
  gaps(frame) {
    const apart = (a, b) => (a && b ? `${Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z).toFixed(2)} studs` : "");
    find("truth-gap").textContent = apart(frame.own, frame.truth);
    find("seen-gap").textContent = apart(frame.own, frame.seen);
  }
}

function ms(value) {
  return `${value.toFixed(2)} ms`;
}

function bytes(value) {
  if (value < 1000) return `${Math.round(value)} B/s`;
  return value < 1e6 ? `${(value / 1000).toFixed(1)} kB/s` : `${(value / 1e6).toFixed(2)} MB/s`;
}
