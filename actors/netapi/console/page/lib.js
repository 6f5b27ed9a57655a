// All views use these functions: elements, requests, the stream, tables, the panel. Nothing here stores more than
// it shows.

// h makes an element: h("td.num", {title: "x"}, "text", other). Text stays text and is never read as HTML.
export function h(what, attrs, ...children) {
  const [tag, ...classes] = what.split(".");
  const el = document.createElement(tag || "div");
  if (classes.length) el.className = classes.join(" ");
  if (attrs && (attrs instanceof Node || typeof attrs !== "object" || Array.isArray(attrs))) children.unshift(attrs);
  else for (const [k, v] of Object.entries(attrs || {})) {
    if (k.startsWith("on")) el.addEventListener(k.slice(2), v);
    else if (v === true) el.setAttribute(k, "");
    else if (v !== false && v !== null && v !== undefined) el.setAttribute(k, v);
  }
  el.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

const svgNS = "http://www.w3.org/2000/svg";
export function svg(tag, attrs) {
  const el = document.createElementNS(svgNS, tag);
  for (const [k, v] of Object.entries(attrs || {})) el.setAttribute(k, v);
  return el;
}

export class Refused extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

// api sends a request below /console/api and returns the answer. An answer without success is thrown.
export async function api(method, path, body) {
  const init = { method, headers: {}, credentials: "same-origin" };
  if (method !== "GET") {
    init.headers["Content-Type"] = "application/json";
    init.headers["X-Brine-Console"] = "1";
    init.body = JSON.stringify(body ?? {});
  }
  let res;
  try { res = await fetch("api/" + path, init); } catch { throw new Refused(0, "salt-api cannot be reached."); }
  const got = await res.json().catch(() => ({}));
  if (!res.ok) throw new Refused(res.status, got.error || "The answer was " + res.status + ".");
  return got;
}

export function query(params) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) if (v) q.set(k, v);
  return q.toString();
}

// address puts the state of a view into the page's address, so that a reload, a bookmark or another user sees the
// same. It adds no history entry, and draws nothing. If the user is already on the way to another address, it does
// nothing.
let here = "";
export function arrive() { here = location.hash; }
export function address(params) {
  if (location.hash !== here) return;
  const path = location.hash.slice(2).split("?")[0], q = query(params);
  history.replaceState(null, "", "#/" + path + (q ? "?" + q : ""));
  arrive();
}

// Live is the only stream of the page. open closes the stream before. The functions of the view get the messages.
export class Live {
  constructor(onState) { this.onState = onState; this.wait = 500; }
  open(params, on) {
    this.close();
    this.params = params; this.on = on;
    this.onState("opening");
    this.connect();
  }
  // up tells whether the data is current.
  up = false;
  connect() {
    const source = (this.source = new EventSource("api/stream?" + query(this.params)));
    const heard = () => {
      if (this.source !== source) return false;
      clearTimeout(this.watch);
      this.watch = setTimeout(() => this.lost(source), 13000);
      return true;
    };
    source.onerror = () => this.lost(source);
    const brine = (e) => { if (JSON.parse(e.data).brine) this.onState("brine"); };
    source.addEventListener("hello", (e) => { if (heard()) { this.wait = 500; this.up = true; this.onState("live"); brine(e); } });
    source.addEventListener("beat", (e) => { if (heard()) brine(e); });
    source.addEventListener("bye", () => { if (heard()) { this.close(); this.onState("out"); } });
    for (const name of ["rows", "note", "event"]) {
      source.addEventListener(name, (e) => {
        if (!heard()) return;
        const m = JSON.parse(e.data);
        if (name === "note" && m.table === "master") { this.up = !m.text; this.wait = 500; this.onState(m.text ? "away" : "live", m.text); } else this.on[name]?.(m);
      });
    }
    heard();
  }
  async lost(source) {
    if (this.source !== source) return;
    this.shut();
    this.onState("lost");
    this.again = setTimeout(async () => {
      this.wait = Math.min(this.wait * 1.6, 5000);
      const mine = this.params;
      try {
        const who = await api("GET", "session");
        if (this.params !== mine || this.source) return;
        if (!who.user) { this.close(); this.onState("out"); return; }
      } catch (err) {
        if (this.params !== mine || this.source) return;
        if (err.status !== 503) { this.source = source; this.lost(source); return; } // otherwise the master is away, and the stream reports its return
      }
      this.connect();
    }, this.wait);
  }
  shut() {
    this.up = false;
    clearTimeout(this.watch); clearTimeout(this.again);
    this.source?.close();
    this.source = null;
  }
  close() { this.shut(); this.params = null; this.on = {}; }
}

// Rows is a table by key. Patches change it.
export class Rows {
  constructor() { this.map = new Map(); this.more = 0; }
  patch(p) {
    if (p.whole) this.map.clear();
    for (const [k, v] of Object.entries(p.set || {})) this.map.set(k, v);
    for (const k of p.gone || []) this.map.delete(k);
    this.more = p.more || 0;
    return p;
  }
}

// Table shows rows. columns are {label, name, cell(row) → Node or text, sort(row), cls}. The document contains only
// the rows down to the scroll position. A changed row is drawn again and keeps the focus.
export class Table {
  constructor(label, columns, opt = {}) {
    Object.assign(this, { columns, opt, list: [], limit: 120, nodes: new Map(), by: opt.by ?? 0, down: !!opt.down });
    const given = /^(-?)(.+)$/.exec(opt.sort || ""), at = given ? columns.findIndex((c) => c.sort && c.label === given[2]) : -1;
    if (at >= 0) { this.by = at; this.down = given[1] === "-"; }
    this.body = h("tbody");
    this.heads = columns.map((c, i) => h("th" + (c.cls ? "." + c.cls : ""), { scope: "col" },
      c.sort && !opt.fixed ? h("button", { type: "button", onclick: () => this.sortBy(i) }, c.label) : c.label || h("span.hidden", "Actions")));
    this.table = h("table.cards", h("caption.hidden", label), h("thead", h("tr", this.heads)), this.body);
    this.more = h("div.more", { hidden: true });
    this.none = h("div.empty", "Loading …");
    this.el = h("div.card", this.table, this.none, this.more);
    this.watcher = new IntersectionObserver((seen) => {
      if (seen.some((s) => s.isIntersecting) && this.list.length > this.limit) { this.limit += 120; this.paint(); }
    }, { rootMargin: "600px" });
    this.watcher.observe(this.more);
    this.body.addEventListener("keydown", (e) => this.key(e));
    this.mark();
  }
  sortBy(i) {
    this.down = this.by === i && !this.down; this.by = i;
    this.mark(); this.set(this.list, this.empty);
    this.opt.sorted?.((this.down ? "-" : "") + this.columns[i].label);
  }
  mark() {
    this.heads.forEach((th, i) => {
      if (this.columns[i].sort && !this.opt.fixed) th.setAttribute("aria-sort", i !== this.by ? "none" : this.down ? "descending" : "ascending");
    });
  }
  // set shows a list of {key, row}. The same row object means that nothing has changed. empty is the text for an
  // empty list.
  set(list, empty) {
    this.empty = empty;
    if (!this.opt.fixed) {
      const of = this.columns[this.by].sort, sign = this.down ? -1 : 1;
      list = list.map((r) => [of(r.row), r]).sort(([a, x], [b, y]) => sign * (typeof a === "number" ? a - b : compare(a, b)) || compare(x.key, y.key)).map(([, r]) => r);
    }
    this.list = list;
    this.paint();
  }
  paint() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => { this.asked = 0; this.draw(); });
  }
  draw() {
    const shown = this.list.slice(0, this.limit), keep = new Set(shown.map((r) => r.key));
    const held = this.body.contains(document.activeElement) ? document.activeElement.closest("tr") : null;
    const heldAt = held ? [...this.body.children].indexOf(held) : -1;
    for (const [key, n] of this.nodes) if (!keep.has(key)) { n.tr.remove(); this.nodes.delete(key); }
    let at = this.body.firstChild;
    for (const r of shown) {
      let n = this.nodes.get(r.key);
      if (!n) { n = { tr: h("tr") }; n.tr.dataset.key = r.key; this.nodes.set(r.key, n); }
      if (n.row !== r.row) { this.fill(n, r); n.row = r.row; }
      if (n.tr === at) at = at.nextSibling;
      else if (n.tr === held && at) { at.before(n.tr); } else this.body.insertBefore(n.tr, at);
    }
    if (held && !held.isConnected) (this.body.children[Math.min(heldAt, this.body.children.length - 1)]?.querySelector("button,a") || document.getElementById("main")).focus();
    this.none.textContent = this.empty;
    this.none.hidden = this.list.length > 0;
    this.more.hidden = this.list.length <= this.limit;
    this.more.textContent = this.list.length - shown.length + " more";
  }
  fill(n, r) {
    const focus = n.tr.contains(document.activeElement) ? [...n.tr.querySelectorAll("button,a")].indexOf(document.activeElement) : -1;
    n.tr.replaceChildren(...this.columns.map((c) => {
      const v = c.cell(r.row, r.key);
      const td = h("td" + (c.cls ? "." + c.cls : ""), v);
      if (c.label) td.dataset.label = c.label;
      if (c.cls === "name") td.title = td.textContent.replace(/^[\s└]+/, ""); // the text may be cut
      if (v === "" || v === null) td.classList.add("blank");
      return td;
    }));
    if (focus >= 0) n.tr.querySelectorAll("button,a")[focus]?.focus();
    if (n.row) this.opt.changed?.(n.tr, n.row, r.row);
  }
  key(e) {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
    if (!step || e.ctrlKey || e.metaKey || e.altKey || (e.key.length === 1 && !keysOn())) return;
    let tr = e.target.closest("tr");
    do tr = step > 0 ? tr.nextElementSibling : tr.previousElementSibling; while (tr && !tr.querySelector("button,a"));
    if (!tr) return;
    tr.querySelector("button,a").focus();
    tr.scrollIntoView({ block: "nearest" });
    e.preventDefault();
  }
  first() { this.body.querySelector("button,a")?.focus(); }
  close() { this.watcher.disconnect(); cancelAnimationFrame(this.asked); }
}

const collator = new Intl.Collator("en", { numeric: true });
export const compare = (a, b) => collator.compare(a, b);
export const keysOn = () => localStorage.getItem("keys") !== "off";

// rowKey is the key of the table row that contains an element.
const rowKey = (el) => el?.closest?.("tr")?.dataset.key;

// The side panel shows one thing. When it closes, the focus returns to its old place, even in a row that was drawn
// again. onclose is called when the user closes the panel, and not when its view ends.
export const panel = {
  open(title, content, onclose) {
    const d = document.getElementById("panel");
    const was = d.open;
    if (!was) { this.from = document.activeElement; this.row = rowKey(this.from); }
    d.onclose = () => {
      onclose?.();
      if (document.activeElement !== document.body && !d.contains(document.activeElement)) return; // the browser has already returned it
      const row = this.row !== undefined && [...document.querySelectorAll("#main tr")].find((tr) => tr.dataset.key === this.row);
      ((row && row.querySelector("button,a")) || document.getElementById("main")).focus();
    };
    d.replaceChildren(h("div.head", h("h1", { id: "panel-title" }, title), h("button", { type: "button", onclick: () => d.close() }, "Close")), h("div.body", content));
    if (!was) d.showModal();
    return d.querySelector(".body");
  },
  close() { document.getElementById("panel").close(); },
  drop() { const d = document.getElementById("panel"); d.onclose = null; d.close(); },
  isOpen: () => document.getElementById("panel").open,
};

export function say(text) { document.getElementById("say").textContent = text; }

export function debounce(ms, f) {
  let t;
  return (...a) => { clearTimeout(t); t = setTimeout(() => f(...a), ms); };
}

// copier makes a button that copies a text. A page without TLS has no clipboard, so the text is selected and copied
// with execCommand.
export function copier(text, what) {
  const b = h("button.small", { type: "button", "aria-label": "Copy " + what, onclick: async () => {
    let done = false;
    try { await navigator.clipboard.writeText(text); done = true; } catch {
      const from = document.activeElement, field = h("textarea.hidden", { readonly: true, "aria-hidden": "true" });
      field.value = text;
      b.after(field);
      field.select();
      done = document.execCommand("copy");
      field.remove();
      from?.focus();
    }
    b.textContent = done ? "Copied" : "Not copied";
    say(done ? "Copied." : "It could not be copied.");
    setTimeout(() => { b.textContent = "Copy"; }, 2000);
  } }, "Copy");
  return b;
}

export const tag = (kind, text) => h("span.tag." + kind, text);
export const field = (label, input, cls = "") => h("label" + cls, label, input);

// moment writes a time in the local format, with the name of the time zone.
const local = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "long" });
export const moment = (at) => (isNaN(at) ? "" : local.format(at));

// Times appear as "3 s ago". The title contains the exact time.
export function ago(stamp) {
  if (!stamp) return "";
  const at = new Date(stamp);
  return isNaN(at) ? "" : h("time", { datetime: stamp, title: moment(at) }, since(at));
}
function since(at) {
  const s = Math.max(0, (Date.now() - at) / 1000);
  return s < 2 ? "now" : s < 90 ? Math.round(s) + " s ago" : s < 5400 ? Math.round(s / 60) + " min ago" : s < 129600 ? Math.round(s / 3600) + " h ago" : Math.round(s / 86400) + " d ago";
}
// renew updates the times in the document.
export function renew() {
  for (const t of document.querySelectorAll("time[datetime]")) {
    const now = since(new Date(t.getAttribute("datetime")));
    if (t.textContent !== now) t.textContent = now;
  }
}
export function span(us) {
  return us < 1000 ? us + " µs" : us < 1e6 ? (us / 1000).toFixed(us < 1e4 ? 1 : 0) + " ms" : (us / 1e6).toFixed(us < 1e7 ? 1 : 0) + " s";
}
export function jidTime(jid) {
  const m = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{6})/.exec(jid);
  return m ? `${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${m[6]}.${m[7].slice(0, 3)}Z` : "";
}

// json shows a value: maps and lists can be folded, everything else is text.
export function json(v, depth = 0) {
  if (v === null || typeof v !== "object") return h("span.mono", v === null ? "null" : String(v));
  const all = Object.entries(v);
  if (!all.length) return h("span.mono.dim", Array.isArray(v) ? "[]" : "{}");
  return h("dl", all.map(([k, x]) => [h("dt.mono", k), h("dd", x !== null && typeof x === "object" && Object.keys(x).length > 3 && depth >= 0
    ? h("details", h("summary", Object.keys(x).length + (Array.isArray(x) ? " elements" : " fields")), json(x, depth + 1)) : json(x, depth + 1))]));
}

export const perSecond = (n) => (n ? n.toFixed(n < 10 ? 1 : 0) : "0");

// spark draws numbers as a line with 60 units of width, one for each number. The newest is at the right, the
// highest at the top, and zero at the bottom. The line has a gap where a number is null, and a single number is a
// dot. The hover text describes the graph in words.
export function spark(values, cls = "spark") {
  const el = svg("svg", { class: cls, viewBox: "0 0 60 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  const top = Math.max(...values.map(Number), 1e-9), none = (v) => v === null || v === undefined;
  const d = values.map((v, i) => {
    if (none(v)) return "";
    const first = none(values[i - 1]), x = (60 - values.length + i + 0.5).toFixed(1), y = (19 - (Math.max(0, v) / top) * 17).toFixed(1);
    return (first ? "M" : "L") + x + " " + y + (first && none(values[i + 1]) ? "h0" : "");
  }).join("");
  const title = svg("title");
  title.textContent = inWords(values);
  el.append(title, svg("path", { d }));
  return el;
}

// inWords describes the content of a graph.
export function inWords(values) {
  const known = values.filter((v) => v !== null);
  if (!known.length) return "no messages counted yet";
  const now = values[values.length - 1];
  return (now === null ? "not known now" : "now " + perSecond(now) + " messages/s") + ", at most " + perSecond(Math.max(...known)) + " in the last " + (values.length < 2 ? "second" : values.length + " s") + (known.length < values.length ? ", of which " + (values.length - known.length) + " s are not known" : "");
}
