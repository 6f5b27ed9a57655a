import { h, address, panel, field, json, moment, debounce } from "./lib.js";

const most = 400; // events that the page keeps

// events shows the stream of the bus: the newest first, filtered by the server.
export function events({ main, live, params }) {
  let list = [], shown = [], paused = false, missed = 0, total = 0, asked = 0;
  const tag = h("input.mono", { type: "search", "data-search": true, value: params.get("tag") || "", placeholder: "salt/job/*/ret/*", spellcheck: "false", autocapitalize: "none" });
  const text = h("input", { type: "search", value: params.get("text") || "", placeholder: "anywhere in the event", spellcheck: "false" });
  const hold = h("button", { type: "button", "aria-pressed": "false", onclick: () => pause() }, "Pause");
  const clear = h("button", { type: "button", onclick: () => { list = []; missed = 0; total = 0; draw(true); } }, "Clear");
  const count = h("span.dim");
  const note = h("p.note.bad", { hidden: true, role: "alert" });
  const body = h("tbody");
  const empty = h("div.empty", "No event yet. Those that come from now on are shown here.");
  const nodes = new Map();

  function draw(force) {
    asked = 0;
    if (paused && !force) { tell(); return; }
    shown = list;
    const keep = new Set(shown.map((e) => e.n));
    for (const [n, tr] of nodes) if (!keep.has(n)) { tr.remove(); nodes.delete(n); }
    const fresh = [];
    for (let i = shown.length - 1; i >= 0; i--) {
      const e = shown[i];
      if (nodes.has(e.n)) break;
      const tr = row(e);
      nodes.set(e.n, tr);
      fresh.push(tr);
    }
    body.prepend(...fresh);
    empty.hidden = shown.length > 0;
    tell();
  }
  function tell() {
    const waiting = paused ? list.filter((e) => !nodes.has(e.n)).length : 0;
    count.textContent = total + " events" + (missed ? ", " + missed + " came too quickly to be shown" : "") + (waiting ? ", " + (waiting >= most ? most + " or more" : waiting) + " waiting" : "");
  }
  // at is the time of an event. Stamps without a zone are in UTC.
  function at(e) {
    const stamp = e.data?._stamp;
    return stamp ? new Date(/(Z|[+-]\d\d:?\d\d)$/.test(stamp) ? stamp : stamp + "Z") : new Date();
  }
  function row(e) {
    const when = at(e);
    const stamp = isNaN(when) ? "" : when.toLocaleTimeString([], { hour12: false }) + "." + String(when.getMilliseconds()).padStart(3, "0");
    return h("tr", h("td.mono", { "data-label": "Time", title: stamp && moment(when) }, stamp), h("td.name.event", { "data-label": "Tag", title: e.tag }, h("button.text", { type: "button", onclick: () => open(e) }, e.tag)), h("td.cut.event.dim", { "data-label": "Data" }, brief(e)));
  }
  function brief(e) {
    if (!e.data) return e.size + " bytes";
    const d = { ...e.data };
    delete d._stamp;
    return JSON.stringify(d).slice(0, 240);
  }
  function open(e) {
    panel.open(e.tag, e.data ? [e.data._stamp ? h("p.dim", "Fired " + moment(at(e))) : "", json(e.data), h("details", h("summary", "As JSON"), h("pre.wrap", { tabindex: 0, role: "region", "aria-label": "The event as JSON" }, JSON.stringify(e.data, null, 2)))] : h("p", "It has " + e.size + " bytes, which is too much to show here."));
  }
  function pause() {
    paused = !paused;
    hold.setAttribute("aria-pressed", String(paused));
    hold.textContent = paused ? "Go on" : "Pause";
    draw();
  }
  function listen() {
    list = []; missed = total = 0; draw(true);
    address({ tag: tag.value.trim(), text: text.value.trim() });
    live.open({ view: "events", tag: tag.value.trim(), text: text.value.trim() }, {
      event: (m) => {
        total += (m.events || []).length;
        missed += m.missed;
        for (const e of m.events || []) list.push(e);
        if (list.length > most) list = list.slice(-most);
        if (!asked) asked = requestAnimationFrame(() => draw());
      },
      note: (n) => { note.textContent = n.text; note.hidden = !n.text; },
    });
  }
  const again = debounce(300, listen);
  tag.addEventListener("input", again);
  text.addEventListener("input", again);
  main.append(h("div.bar", h("h1", "Events"), field("Tag: a pattern, or how it begins", tag, ".grow"), field("Text", text, ".grow"), hold, clear), h("div.bar", count), note,
    h("div.card", h("table.cards", h("caption.hidden", "Events"), h("thead", h("tr", ["Time", "Tag", "Data"].map((t) => h("th", { scope: "col" }, t)))), body), empty));
  listen();
  return { close: () => cancelAnimationFrame(asked), pause, first: () => body.querySelector("button")?.focus() };
}
