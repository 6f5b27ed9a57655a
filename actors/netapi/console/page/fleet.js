import { h, api, address, Rows, Table, panel, say, tag, field, ago, jidTime, json, debounce } from "./lib.js";

const keyKinds = { accepted: "good", pending: "warn", rejected: "bad", denied: "bad" };
const types = ["compound", "glob", "pcre", "list", "grain", "grain_pcre", "pillar", "nodegroup", "ipcidr"];
// version shows the implementation of a minion. The version in brackets is the Salt release as which a brine minion
// answers.
const version = (m) => m.brine ? "brine" + (m.version ? " (" + m.version + ")" : "") : m.version || (m.protocol ? h("span.dim", "protocol " + m.protocol) : "");
const done = { accept: "accepted", reject: "rejected", delete: "deleted" };
const sorted = (map) => Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
const linkText = { yes: "connected", no: "not connected", unknown: "unknown" };

// fleet shows the minions: keys, connections, last jobs, and the grains of an opened minion.
export function fleet({ main, live, who, params, can }) {
  const rows = new Rows();
  let state = params.get("key") || "", opened = params.get("minion") || "", sort = params.get("sort") || "", heard = false;
  const search = h("input.mono", { type: "search", "data-search": true, value: params.get("tgt") || "", placeholder: "web* and G@os:Debian", spellcheck: "false", autocapitalize: "none" });
  const kind = h("select", types.map((t) => h("option", { selected: t === (params.get("tgt_type") || "compound") }, t)));
  const count = h("span.dim", { role: "status" });
  const chips = h("div.chips", { role: "group", "aria-label": "State of the key" });
  const note = h("p.note.bad", { hidden: true, role: "alert" }), wrong = h("p.note.bad", { hidden: true, role: "alert" });
  const table = new Table("Minions", [
    { label: "Minion", cls: "name", sort: (m) => m.id, cell: (m) => h("button.text", { type: "button", onclick: () => open(m) }, m.id) },
    { label: "Key", sort: (m) => m.key, cell: (m) => tag(keyKinds[m.key] || "none", m.key) },
    { label: "Connection", sort: (m) => m.connected, cell: (m) => (m.connected && m.key === "accepted" ? tag({ yes: "good", no: "bad" }[m.connected] || "none", linkText[m.connected] || m.connected) : "") },
    { label: "Version", sort: (m) => (m.brine ? "b" : "s") + m.version, cell: version },
    { label: "Last job", sort: (m) => m.jid, cell: (m) => m.jid ? h("span", can("jobs") ? h("a.mono", { href: "#/jobs/" + m.jid }, m.fun || m.jid) : h("span.mono", m.fun), " ", h("small", ago(m.ran || jidTime(m.jid)))) : "" },
    { label: "Last heard", sort: (m) => m.heard, cell: (m) => ago(m.heard) },
    { label: "", cell: (m) => can("keys") && m.key !== "denied" && m.key !== "accepted" ? keyButtons(m) : "", cls: "acts-cell" },
  ].filter((c) => who.brine || !["Connection", "Last job", "Last heard"].includes(c.label)), { sort, sorted: (s) => { sort = s; told(); } });
  const many = h("button.small", { type: "button", hidden: true, onclick: () => acceptAll() });
  const told = () => address({ tgt: search.value.trim(), tgt_type: search.value.trim() && kind.value, key: state, sort, minion: opened });

  function keyButtons(m) {
    const acts = m.key === "pending" ? ["accept", "reject"] : m.key === "rejected" ? ["accept", "delete"] : m.key === "denied" ? ["delete"] : ["reject", "delete"];
    return h("div.acts", acts.map((act) => h("button.small", { type: "button", "aria-label": act + " the key of " + m.id, onclick: (e) => keyAct(e.target, m, act) }, act[0].toUpperCase() + act.slice(1))));
  }
  // tell shows an error about a key. It stays until the next action.
  function tell(text) { wrong.textContent = text; wrong.hidden = !text; }
  async function keyAct(button, m, act) {
    if (button.getAttribute("aria-disabled") || (act === "delete" && !confirm("Delete every key that " + m.id + " has at this master?"))) return;
    button.setAttribute("aria-disabled", "true"); // not disabled, because that would lose the focus
    tell("");
    try {
      await api("POST", "fleet/" + encodeURIComponent(m.id) + "/key", { act });
      say("The key of " + m.id + " is " + done[act] + ".");
      if (panel.isOpen()) panel.close();
    } catch (err) {
      button.removeAttribute("aria-disabled");
      const close = button.closest("dialog")?.querySelector(".error"); // an error behind the panel would be hidden
      if (close) close.textContent = err.message;
      else tell(err.message);
    }
  }
  // acceptAll accepts the pending keys in the list, one after another, until one is refused. It skips keys that
  // have disappeared meanwhile.
  async function acceptAll() {
    const ids = [...rows.map.values()].filter((m) => m.key === "pending").map((m) => m.id);
    if (many.getAttribute("aria-disabled") || !confirm("Accept the keys of " + ids.length + " minions?\n" + ids.slice(0, 12).join(", ") + (ids.length > 12 ? ", …" : ""))) return;
    many.setAttribute("aria-disabled", "true");
    tell("");
    let n = 0, why = "";
    for (const id of ids) {
      try { await api("POST", "fleet/" + encodeURIComponent(id) + "/key", { act: "accept" }); n++; } catch (err) {
        why = err.message;
        if (err.status !== 404) break;
      }
    }
    many.removeAttribute("aria-disabled");
    const text = n + " of " + ids.length + " keys are accepted.";
    if (why) tell(text + " " + why);
    else say(text);
  }
  async function open(m) {
    opened = m.id; told();
    const facts = [["Key", m.key], ["Connection", linkText[m.connected] || "not known"], ["Version", version(m)], ["Protocol", m.protocol || ""],
      ["Last heard", m.heard && ago(m.heard)], ["Refused", m.refused || ""]];
    const body = panel.open(m.id, [h("dl.facts", facts.filter(([, v]) => v !== "").map(([k, v]) => [h("dt", k), h("dd", v)])),
      h("p.error", { role: "alert" }), h("div.acts", can("run") && m.key === "accepted" ? h("a", { href: "#/jobs?tgt=" + encodeURIComponent(m.id) + "&tgt_type=list" }, "Run a function") : "", can("actors") && (m.brine || !who.brine) ? h("a", { href: "#/actors?of=" + encodeURIComponent(m.id) }, who.brine ? "Actors" : "Actors, if it is a minion of brine") : "", can("keys") ? keyButtons(m) : "")], () => { opened = ""; told(); });
    if (!can("grains")) return;
    try {
      const got = await api("GET", "fleet/" + encodeURIComponent(m.id) + "/grains");
      body.append(h("h2", "Grains"), got.grains ? json(sorted(got.grains)) : h("p.dim", "The master has no grains of it yet."));
    } catch (err) { body.append(h("p.error", err.message)); }
  }
  function paint() {
    const n = {};
    for (const m of rows.map.values()) n[m.key] = (n[m.key] || 0) + 1;
    const all = rows.map.size;
    let up = 0;
    for (const m of rows.map.values()) if (m.connected === "yes") up++;
    const text = all + (all === 1 ? " minion" : " minions") + (search.value.trim() ? " match" + (all === 1 ? "es" : "") : "") + (who.brine ? ", " + up + " connected" : "") + (rows.more ? ", " + rows.more + " more are not shown" : "");
    if (count.textContent !== text) count.textContent = text;
    const states = ["", "accepted", "pending", "rejected", "denied"].filter((s) => !s || n[s] || s === state);
    const sign = states.map((s) => s + n[s]).join() + state + all;
    if (chips.dataset.sign !== sign) {
      const at = [...chips.children].indexOf(document.activeElement);
      chips.dataset.sign = sign;
      chips.replaceChildren(...states.map((s) => h("button", { type: "button", "aria-pressed": String(s === state), onclick: () => { state = s; told(); paint(); } }, (s || "all") + " " + (s ? n[s] || 0 : all))));
      chips.children[at]?.focus();
    }
    const held = document.activeElement === many;
    many.hidden = !can("keys") || !(n.pending > 1) || (state && state !== "pending");
    if (held && many.hidden) main.focus();
    many.textContent = "Accept all " + n.pending + " pending";
    table.set([...rows.map].filter(([, m]) => !state || m.key === state).map(([key, row]) => ({ key, row })),
      search.value.trim() ? "No minion matches this target." : state ? "No key is " + state + "." : "No minion has a key here yet: it shows up when it first asks to be let in.");
    if (!heard) { heard = true; const m = opened && [...rows.map.values()].find((x) => x.id === opened); if (m) open(m); }
  }
  function listen() {
    told();
    live.open({ view: "fleet", tgt: search.value.trim(), tgt_type: kind.value }, {
      rows: (p) => { rows.patch(p); note.hidden = true; paint(); },
      note: (n) => { note.textContent = n.text; note.hidden = !n.text; if (n.text && n.table === "target") { rows.map.clear(); paint(); } },
    });
  }
  const again = debounce(250, listen);
  search.addEventListener("input", again);
  kind.addEventListener("change", listen);
  main.append(h("div.bar", h("h1", "Fleet"), field("Target", search, ".grow"), field("Type", kind)), who.missing ? h("p.note", who.missing) : "",
    h("div.bar.mid", chips, count, many), note, wrong, table.el);
  listen();
  return { close: () => table.close(), first: () => table.first() };
}
