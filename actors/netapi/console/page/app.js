import { h, api, arrive, Live, panel, say, field, keysOn, renew } from "./lib.js";
import { fleet } from "./fleet.js";
import { jobs } from "./jobs.js";
import { actors } from "./actors.js";
import { events } from "./events.js";

const views = [
  { name: "fleet", title: "Fleet", right: "fleet", show: fleet },
  { name: "jobs", title: "Jobs", right: "jobs", show: jobs },
  { name: "actors", title: "Actors", right: "actors", show: actors },
  { name: "events", title: "Events", right: "events", show: events },
];
const $ = (id) => document.getElementById(id);
const main = $("main");
let who = null, current = null;

// These are the faults of the stream. away means that salt-api answers and the master does not; the page keeps the
// last known data.
const wrong = { lost: "connection lost, trying again", away: "master away" };
const live = new Live((state, text) => {
  if (state === "brine") { if (who && !who.brine) know(); return; }
  const link = $("link");
  const was = link.dataset.state in wrong;
  link.dataset.live = String(state === "live");
  if (state === "opening") return; // it takes milliseconds, so the text stays
  const before = link.dataset.state;
  link.dataset.state = state;
  link.classList.toggle("lost", state in wrong);
  link.textContent = state === "live" ? "live" : wrong[state] || "";
  $("away").hidden = state !== "away";
  if (state === "away") {
    $("away").textContent = text + " What is shown is the last that was known. This page goes on by itself when the master is back.";
    for (const e of main.querySelectorAll(".empty, .waits")) if (e.textContent === "Loading …") e.textContent = "Not known while the master is away.";
  }
  if (state === "lost" && before !== "lost") say("The connection to salt-api is lost. It is tried again.");
  if (state === "live" && was) say(before === "away" ? "The master is back." : "The connection is there again.");
  if (state === "out") login("The session has ended. Log in again.");
});

// know loads the session again, because the master has got a control socket since the page was loaded.
async function know() {
  try {
    const got = await api("GET", "session");
    if (got.user && got.brine && who && !who.brine) enter(got);
  } catch { /* the stream will report it again */ }
}

function leave() {
  live.close();
  current?.close?.();
  current = null;
  panel.drop();
}

// login shows the form. After the log-in the page returns to its address.
function login(text = "") {
  leave();
  who = null;
  $("top").hidden = $("away").hidden = true;
  $("link").dataset.state = "";
  document.title = "Log in – brine";
  const user = h("input", { name: "username", autocomplete: "username", required: true, autocapitalize: "none", spellcheck: "false" });
  const pass = h("input", { name: "password", type: "password", autocomplete: "current-password" });
  const kinds = login.eauths.length ? login.eauths : ["pam"];
  const kind = h("select", { name: "eauth" }, kinds.map((k) => h("option", k)));
  const error = h("p.error", { role: "alert" }, text);
  const go = h("button.main", "Log in");
  const form = h("form.card.login", { onsubmit: async (e) => {
    e.preventDefault();
    go.disabled = true; error.textContent = "";
    try {
      enter(await api("POST", "login", { username: user.value, password: pass.value, eauth: kind.value }));
    } catch (err) {
      error.textContent = err.status === 401 ? "Not logged in: the user, the password or the kind of authentication is wrong, or no rule names this user." : err.message;
      go.disabled = false;
      pass.value = ""; pass.focus();
    }
  } }, h("h1", h("img", { src: "icon.svg", alt: "", width: 28, height: 28 }), "brine"), field("User", user), field("Password", pass), field("Kind of authentication", kind), error, go);
  main.replaceChildren(form);
  user.focus();
}
login.eauths = [];

function enter(identity) {
  who = identity;
  $("top").hidden = false;
  $("user").textContent = who.user;
  $("user").title = who.user;
  route();
}

const allowed = () => views.filter((v) => who.can.includes(v.right) || (v.name === "jobs" && who.can.includes("run")));

// route shows the view that the address names: #/NAME/REST?QUERY.
function route() {
  if (!who) return;
  leave();
  arrive();
  const [path, q] = location.hash.slice(2).split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  const mine = allowed();
  const shown = mine.filter((v) => v.name !== "actors" || who.brine || v.name === name); // a Salt master has no actors, but its brine minions have
  $("nav").replaceChildren(...shown.map((v) => h("a", { href: "#/" + v.name, "aria-current": v.name === name ? "page" : null }, v.title)));
  const view = mine.find((v) => v.name === name);
  if (!view) {
    if (mine.length) { location.replace("#/" + mine[0].name); return; }
    main.replaceChildren(h("p.note", "No rule of external_auth lets this user see anything here."));
    return;
  }
  document.title = view.title + " – brine";
  main.replaceChildren();
  current = view.show({ main, live, who, rest, params: new URLSearchParams(q), can: (right) => who.can.includes(right) }) || {};
  if (document.activeElement === document.body) main.focus(); // the element with the focus is gone: the log-in form, or a link to a view
}

// The theme is that of the system, light, or dark.
const themes = { auto: "Light or dark: by system", light: "Light", dark: "Dark" };
function theme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  localStorage.setItem("theme", name);
  $("theme").textContent = { auto: "◐", light: "☀", dark: "☾" }[name];
  $("theme").setAttribute("aria-label", themes[name]);
  $("theme").title = themes[name] + " (t)";
}
function nextTheme() {
  const names = Object.keys(themes);
  theme(names[(names.indexOf(localStorage.getItem("theme") || "auto") + 1) % names.length]);
  say(themes[localStorage.getItem("theme")]);
}

function help() {
  const keys = [["1 … 4", "go to a view"], ["/", "search"], ["j k ↓ ↑", "move through the rows of a table"], ["Enter", "open a row"], ["Esc", "close"], ["p", "pause the events, and go on"], ["t", "light or dark"], ["?", "show these keys"]];
  const on = h("input", { type: "checkbox", checked: keysOn(), onchange: () => localStorage.setItem("keys", on.checked ? "on" : "off") });
  panel.open("Keys", [h("dl", keys.map(([k, t]) => [h("dt", h("kbd", k)), h("dd", t)])), h("label.check", on, "Single letters and digits are shortcuts"),
    h("p.dim", "Times are those of this browser (" + Intl.DateTimeFormat().resolvedOptions().timeZone + "); job ids hold the master's time in UTC. Point at a time to see the moment itself."),
    who.version ? h("p.dim", "brine " + who.version) : ""]);
}

document.addEventListener("keydown", (e) => {
  if (!who || e.ctrlKey || e.metaKey || e.altKey || !keysOn() || $("panel").open || e.target.closest("input,select,textarea")) return;
  const v = allowed()[Number(e.key) - 1];
  if (v) { location.hash = "#/" + v.name; main.focus(); }
  else if (e.key === "/") main.querySelector("[data-search]")?.focus();
  else if (e.key === "j" && !e.target.closest("tbody")) current?.first?.();
  else if (e.key === "t") nextTheme();
  else if (e.key === "p" && current?.pause) current.pause();
  else if (e.key === "?") help();
  else return;
  e.preventDefault();
});
$("theme").addEventListener("click", nextTheme);
$("help").addEventListener("click", help);
$("logout").addEventListener("click", async () => {
  try { await api("POST", "logout"); } catch { /* the session ended before */ }
  login("Logged out.");
});
addEventListener("hashchange", route);
addEventListener("pagehide", () => live.close());
addEventListener("pageshow", (e) => { if (e.persisted) route(); });
setInterval(() => { if (!document.hidden) renew(); }, 1000);
theme(localStorage.getItem("theme") || "auto");

async function start() {
  try {
    const got = await api("GET", "session");
    login.eauths = got.eauths;
    if (got.user) enter(got);
    else login();
  } catch (err) {
    if (main.dataset.trouble !== err.message) main.replaceChildren(h("p.note.bad", { role: "alert" }, err.message + " It is tried again."));
    main.dataset.trouble = err.message;
    setTimeout(start, 2000);
    return;
  }
  delete main.dataset.trouble;
}
start();
