// Brings the page's pieces together.

import { Connection } from "./connection.js";
import { Frames, decode } from "./frames.js";
import { Keyboard } from "./keyboard.js";
import { Panel } from "./panel.js";
import { View } from "./view.js";

const STATES = {
  connecting: ["Connecting", "Reaching the lab."],
  loading: ["Joining", "Loading the place."],
  playing: ["Playing", ""],
  lost: ["Connection lost", "Trying again."],
};
const GAPS_EVERY_MS = 200;

const frames = new Frames();
const view = new View(document.getElementById("view"), document.getElementById("map"));
const panel = new Panel((link) => connection.send({ type: "link", ...link }), (name, on) => (view.shown[name] = on));
const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
const connection = new Connection(url, {
  open() {
    frames.clear();
    panel.clear();
    setState("loading");
    panel.linkChanged();
  },
  lost(seconds) {
    frames.clear();
    setState("lost", `The lab does not answer. Trying again in ${seconds.toFixed(1)} s.`);
  },
  message: receive,
  frame(bytes) {
    frames.push(decode(bytes), performance.now());
  },
});
new Keyboard((input) => connection.send({ type: "input", ...input }));

function receive(message) {
  if (message.type === "place") view.setPlace(message);
  if (message.type === "names") view.names = new Map(message.names);
  if (message.type === "stats") panel.stats(message);
  if (message.type === "state") {
    setState(message.state, message.text);
    document.getElementById("who").textContent = message.player === null ? "" : `as player ${message.player}`;
    document.body.dataset.player = message.player ?? "";
  }
}

function setState(state, text) {
  const [title, otherwise] = STATES[state];
  document.body.dataset.state = state;
  document.getElementById("state").textContent = title;
  document.getElementById("curtain-title").textContent = title;
  document.getElementById("curtain-text").textContent = text || otherwise;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  view.setDark(theme === "dark");
}

const system = matchMedia("(prefers-color-scheme: dark)");
const systemTheme = () => (system.matches ? "dark" : "light");
setTheme(localStorage.getItem("theme") ?? systemTheme());
system.addEventListener("change", () => localStorage.getItem("theme") ?? setTheme(systemTheme()));
document.getElementById("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", theme);
  setTheme(theme);
});

let drawn = performance.now();
let gapsAt = 0;
function draw(now) {
  const frame = frames.at(now);
  view.draw(frame, Math.min((now - drawn) / 1000, 0.25));
  drawn = now;
  if (frame && now - gapsAt > GAPS_EVERY_MS) {
    panel.gaps(frame);
    panel.owners(frame.parts);
    gapsAt = now;
  }
  requestAnimationFrame(draw);
}
document.getElementById("view").focus();
requestAnimationFrame(draw);
