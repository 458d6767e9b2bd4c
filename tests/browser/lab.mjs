// Opens the lab in a real browser, walks, and compares with what the server says. Needs `chromium` and a built command:
//   TIDELOCK=target/release/tidelock node lab.mjs
// SCREENSHOT=../../docs/lab.png LINGER_S=25 renews the README's picture.

import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const PAGE_PORT = Number(process.env.LAB_PORT ?? 17780);
const PAGE = `http://127.0.0.1:${PAGE_PORT}`;
const WALK_SPEED = 16;
const WALK_MS = 2000;
const PATIENCE_MS = 30_000;
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-quic",
];

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function assert(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`ok: ${what}`);
}

async function until(what, probe) {
  const begun = Date.now();
  while (Date.now() - begun < PATIENCE_MS) {
    const found = await probe().catch(() => null);
    if (found) return found;
    await wait(100);
  }
  throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`);
}

async function serverPlayer(player) {
  const { players } = await (await fetch(`${PAGE}/api/players`)).json();
  return players.find((entry) => entry.player === player);
}

function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[2] - b[2]);
}

/** Eight ways to walk, as keys and a direction on the ground; W walks up the screen, towards -z. */
const WAYS = [
  { keys: ["KeyW"], to: [0, -1] }, { keys: ["KeyS"], to: [0, 1] }, { keys: ["KeyA"], to: [-1, 0] }, { keys: ["KeyD"], to: [1, 0] },
  { keys: ["KeyW", "KeyA"], to: [-Math.SQRT1_2, -Math.SQRT1_2] }, { keys: ["KeyW", "KeyD"], to: [Math.SQRT1_2, -Math.SQRT1_2] },
  { keys: ["KeyS", "KeyA"], to: [-Math.SQRT1_2, Math.SQRT1_2] }, { keys: ["KeyS", "KeyD"], to: [Math.SQRT1_2, Math.SQRT1_2] },
];

/** How far each way is open, up to `reach` studs, by the place as the page has it. Runs in the page. */
async function openStuds({ place, from, ways, reach }) {
  const { shapeOf } = await import("/place.js");
  const feet = from[1] - 2.5;
  const inside = (polygon, x, z) => polygon.reduce((odd, [ax, az], index) => {
    const [bx, bz] = polygon[(index + 1) % polygon.length];
    return (az > z) !== (bz > z) && x < ax + ((z - az) / (bz - az)) * (bx - ax) ? !odd : odd;
  }, false);
  const walls = place.parts.map((part) => shapeOf(part)).filter(({ top, bottom }) => top > feet + 0.2 && bottom < feet + 5.2);
  const rim = [...Array(12).keys()].map((step) => [Math.cos(step) * 1.4, Math.sin(step) * 1.4]);
  return ways.map(({ to }) => {
    for (let gone = 0; gone <= reach; gone += 0.5) {
      const [x, z] = [from[0] + to[0] * gone, from[2] + to[1] * gone];
      if (walls.some(({ outline }) => rim.some(([dx, dz]) => inside(outline, x + dx, z + dz)))) return gone;
    }
    return Infinity;
  });
}

/** Holds keys for some time; returns how long they were held, in seconds. */
async function hold(page, keys, ms) {
  for (const key of keys) await page.keyboard.down(key);
  const begun = performance.now();
  await wait(ms);
  for (const key of keys) await page.keyboard.up(key);
  return (performance.now() - begun) / 1000;
}

/** A way that is open for the whole walk. Where the spawn has none, the character first steps aside. */
async function findOpenWay(page, player, place) {
  const reach = (WALK_SPEED * WALK_MS) / 1000 + 3;
  for (let aside = 0; aside < 12; aside++) {
    const { position } = await serverPlayer(player);
    const studs = await page.evaluate(openStuds, { place, from: position, ways: WAYS, reach });
    const byLength = WAYS.map((way, index) => ({ way, open: studs[index] })).sort((a, b) => b.open - a.open);
    if (byLength[0].open === Infinity) return { way: byLength[0].way, before: await serverPlayer(player) };
    // Not always the longest, or two ways could send it back and forth.
    const { way, open } = byLength[aside % 3];
    await hold(page, way.keys, Math.min(500, (Math.max(open - 2, 0) / WALK_SPEED) * 1000));
    await wait(1000);
  }
  throw new Error(`no open way of ${reach} studs anywhere near`);
}

/** Holds a way's keys for two seconds, and compares how far the server moved the character with how far walking takes it. */
async function walk(page, player, place) {
  const { way, before } = await findOpenWay(page, player, place);
  const held = await hold(page, way.keys, WALK_MS);
  await wait(1000);
  const after = await serverPlayer(player);
  const moved = distance(before.position, after.position);
  const expected = WALK_SPEED * held;
  const along = (after.position[0] - before.position[0]) * way.to[0] + (after.position[2] - before.position[2]) * way.to[1];
  console.log(`held ${way.keys.join("+")} for ${held.toFixed(3)} s: the server moved the character ${moved.toFixed(2)} of ${expected.toFixed(2)} studs`);
  assert(Math.abs(moved - expected) < expected * 0.1, "the server's character moved as far as walking takes it");
  assert(along > moved * 0.98, "it moved the way the keys say");
}

/** The drawn characters move: two screenshots of the canvas differ. */
async function drawingMoves(page) {
  const shoot = () => page.locator("#view").screenshot();
  const first = await shoot();
  await wait(500);
  assert(!first.equals(await shoot()), "the drawing moves");
}

/** Walks into loose parts until the visitor owns one. Whoever comes near one is given it, so the nearest is walked to. */
async function ownsWhatItPushes(page, player, place) {
  const loose = place.parts.filter((part) => part.loose);
  assert(loose.length > 0, "the place has loose parts");
  const owned = async () => Number(await page.evaluate(() => document.body.dataset.owned)) > 0;
  for (let step = 0; step < 80 && !(await owned()); step++) {
    const { position } = await serverPlayer(player);
    const nearest = loose.reduce((best, part) => (distance(part.pos, position) < distance(best.pos, position) ? part : best));
    const to = [nearest.pos[0] - position[0], nearest.pos[2] - position[2]];
    const along = WAYS.map((way) => ({ way, share: way.to[0] * to[0] + way.to[1] * to[1] })).sort((a, b) => b.share - a.share);
    // Not always the straightest, or a wall could hold it up.
    await hold(page, along[step % 4 === 3 ? 1 + (step % 3) : 0].way.keys, 400);
  }
  assert(await owned(), "a visitor who walks up to a loose part comes to own it");
}

/** Sets the sliders to a bad link, walks, and takes the picture the README shows. */
async function badLink(page, player, screenshot) {
  await page.getByRole("button", { name: "Rough" }).click();
  await until("the round trip to follow the slider", async () => (await serverPlayer(player)).rtt_ms > 120);
  assert(true, "the sliders act on the real link");
  for (const key of ["KeyD", "KeyS", "KeyA", "KeyW", "KeyD"]) {
    await page.keyboard.down(key);
    await wait(900);
    if (screenshot && key === "KeyW") await page.screenshot({ path: screenshot });
    await page.keyboard.up(key);
  }
  await page.getByRole("button", { name: "Local" }).click();
}

/** A page whose websocket closes says so, and comes back by itself. */
async function reconnects(browser) {
  const page = await browser.newPage();
  let socket = null;
  await page.routeWebSocket(/\/ws$/, (route) => {
    socket = route;
    route.connectToServer();
  });
  await page.goto(PAGE);
  await page.locator('body[data-state="playing"]').waitFor({ timeout: PATIENCE_MS });
  await socket.close();
  await page.locator('body[data-state="lost"]').waitFor({ timeout: PATIENCE_MS });
  await page.locator('body[data-state="playing"]').waitFor({ timeout: PATIENCE_MS });
  assert(true, "a lost connection is shown, and comes back");
  await page.close();
}

async function run() {
  const command = path.resolve(ROOT, process.env.TIDELOCK ?? "target/release/tidelock");
  const lab = spawn(command, ["lab", "--page", `127.0.0.1:${PAGE_PORT}`], { stdio: ["ignore", "inherit", "inherit"] });
  const ended = new Promise((_, reject) => lab.on("exit", (code) => reject(new Error(`the lab ended with ${code}`))));
  ended.catch(() => {});
  let browser;
  try {
    await Promise.race([ended, until("the page", () => fetch(PAGE).then((answer) => answer.ok))]);
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
    const complaints = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    let place = null;
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => {
      if (typeof payload === "string" && payload.startsWith('{"type":"place"')) place = JSON.parse(payload);
    }));
    await page.goto(PAGE);
    await page.locator('body[data-state="playing"]').waitFor({ timeout: PATIENCE_MS });
    const player = Number(await page.evaluate(() => document.body.dataset.player));
    await until("the character to stand", async () => {
      const own = await serverPlayer(player);
      return place && own && Math.hypot(...own.velocity) < 0.01;
    });
    await wait(1000);
    await walk(page, player, place);
    await drawingMoves(page);
    await ownsWhatItPushes(page, player, place);
    await wait(Number(process.env.LINGER_S ?? 0) * 1000);
    await badLink(page, player, process.env.SCREENSHOT);
    await reconnects(browser);
    assert(complaints.length === 0, `no console errors ${complaints.join("; ")}`);
  } finally {
    await browser?.close();
    lab.removeAllListeners("exit");
    lab.kill("SIGTERM");
  }
}

await run();
