"use strict";
// Sortable tables: a click on a heading sorts by its column, numbers by value, gaps last.
for (const table of document.querySelectorAll("main table")) {
  const heads = [...table.querySelectorAll("thead th button")];
  heads.forEach((button, column) => button.addEventListener("click", () => {
    const th = button.parentElement;
    const down = th.getAttribute("aria-sort") === "descending";
    heads.forEach(other => other.parentElement.setAttribute("aria-sort", "none"));
    th.setAttribute("aria-sort", down ? "ascending" : "descending");
    const body = table.tBodies[0];
    const key = row => row.cells[column].dataset.v;
    const rows = [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b);
      if (x === "" || y === "") return (x === "") - (y === "");
      const numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
      const order = numbers ? x - y : x.localeCompare(y);
      return down ? order : -order;
    });
    body.append(...rows);
  }));
}
// The dialogue viewer.
const source = document.getElementById("data");
if (source) {
  const data = JSON.parse(source.textContent);
  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const pick = document.getElementById("dialogue");
  const systems = [...document.querySelectorAll("select.system")];
  data.dialogues.forEach((item, at) => pick.append(make("option", { value: at }, `${item.id} (${item.about.slice(0, 3).join(", ")})`)));
  systems.forEach((select, slot) => {
    select.append(make("option", { value: "" }, "nobody"));
    for (const { key, name } of data.systems) select.append(make("option", { value: key }, name));
    select.value = data.systems[slot] ? data.systems[slot].key : "";
    select.addEventListener("change", show);
  });
  const names = ids => ids.map(id => data.places[id] ? data.places[id].name : id).join(", ");
  const box = document.getElementById("review");
  const hide = () => { box.hidden = true; };
  const open = (node, piece) => {
    box.replaceChildren();
    const known = (piece.reviews || []).filter(id => id in data.reviews);
    if (piece.status) box.append(make("strong", {}, piece.status === "unsupported" ? "in no cited review" : piece.status));
    if (!known.length) box.append(make("p", {}, "no cited review"));
    for (const id of known) {
      const text = data.reviews[id], at = text.toLowerCase().indexOf(piece.t.toLowerCase());
      const p = make("p", { dir: "auto" });
      if (piece.status && at >= 0) p.append(text.slice(0, at), make("mark", {}, text.slice(at, at + piece.t.length)), text.slice(at + piece.t.length));
      else p.append(text);
      box.append(make("span", { class: "meta" }, `review ${id}`), p);
    }
    box.hidden = false;
    const place = node.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(place.left + scrollX, scrollX + innerWidth - box.offsetWidth - 16))}px`;
    const below = place.bottom + box.offsetHeight + 12 < innerHeight;
    box.style.top = `${scrollY + (below ? place.bottom + 6 : Math.max(4, place.top - box.offsetHeight - 6))}px`;
  };
  document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
  const written = pieces => {
    const cell = make("div", { dir: "auto" });
    for (const piece of pieces) {
      if (!piece.status && !piece.label) { cell.append(piece.t); continue; }
      const node = make("span", { tabindex: 0, class: piece.status ? `q ${piece.status}` : "label", "aria-describedby": "review" }, piece.t);
      if (piece.status) node.append(make("span", { class: "visually-hidden" }, ` (${piece.status})`));
      for (const [on, off] of [["mouseenter", "mouseleave"], ["focus", "blur"]]) {
        node.addEventListener(on, () => open(node, piece));
        node.addEventListener(off, hide);
      }
      cell.append(node);
    }
    return cell;
  };
  const meta = text => make("span", { class: "meta", dir: "auto" }, text);
  const reference = turn => {
    const cell = make("td", {}, written(turn.text));
    if (turn.places.length) cell.append(meta(`names ${names(turn.places)}`));
    if (turn.rejected.length) cell.append(meta(`turns down ${names(turn.rejected)}`));
    if (turn.alternatives.length) cell.append(meta(`also fitting: ${names(turn.alternatives)}`));
    return cell;
  };
  const answer = (turn, found) => {
    if (!found) return make("td", {}, "");
    const cell = make("td", {}, written(found.text));
    if (found.error) cell.append(make("span", { class: "meta error" }, `no answer: ${found.error}`));
    if (found.places.length) cell.append(meta(`names ${names(found.places)}`));
    const hit = turn.gold.length ? (found.places[0] === turn.gold[0] ? "hit" : "miss") : null;
    const scores = Object.entries(found.scores).filter(([name, value]) => value !== null && name !== "recall_at_1").map(([name, value]) => `${name.toUpperCase()} ${value.toFixed(2)}`);
    cell.append(meta([hit, ...scores].filter(Boolean).join(", ")));
    return cell;
  };
  function show() {
    hide();
    const item = data.dialogues[pick.value];
    if (!item) return;
    const chosen = [...new Set(systems.map(select => select.value).filter(Boolean))];
    document.getElementById("about").textContent = `${item.about.join(", ")}. ${item.persona}`;
    const label = key => data.systems.find(system => system.key === key).name;
    const head = make("tr", {}, make("th", { scope: "col" }, "turn"), make("th", { scope: "col" }, "reference"), ...chosen.map(key => make("th", { scope: "col" }, make("bdi", {}, label(key)))));
    document.querySelector("#talk thead").replaceChildren(head);
    document.querySelector("#talk tbody").replaceChildren(...item.turns.map((turn, at) => make("tr", { class: turn.role }, make("th", { scope: "row" }, `${at} ${turn.role}\n${turn.action}`), reference(turn), ...(turn.role === "user" ? chosen.map(() => make("td")) : chosen.map(key => answer(turn, (turn.answers || {})[key]))))));
    draw(item, chosen, label);
  }
  function draw(item, chosen, label) {
    const svg = document.getElementById("map"), space = "http://www.w3.org/2000/svg";
    const shape = (name, attributes, text) => { const node = document.createElementNS(space, name); for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v); if (text !== undefined) node.textContent = text; svg.append(node); return node; };
    svg.replaceChildren(svg.querySelector("title"));
    const known = id => data.places[id] && data.places[id].at[0] !== null && data.places[id].at[1] !== null;
    const system = item.turns.filter(turn => turn.role === "system");
    const route = [...new Set(system.flatMap(turn => turn.places))].filter(known);
    const named = chosen.map(key => [...new Set(system.flatMap(turn => turn.answers && turn.answers[key] ? turn.answers[key].places : []))].filter(known));
    const ids = [...new Set([...item.candidates, ...route, ...named.flat()])].filter(known);
    if (ids.length < 2) { shape("text", { x: 20, y: 40 }, "fewer than two places have coordinates"); return; }
    const degree = 111.195, middle = axis => { const all = ids.map(id => data.places[id].at[axis]); return (Math.min(...all) + Math.max(...all)) / 2; };
    const north = middle(0), east = middle(1);
    const flat = Object.fromEntries(ids.map(id => [id, [(data.places[id].at[1] - east) * degree * Math.cos(north * Math.PI / 180), (data.places[id].at[0] - north) * degree]]));
    const span = Math.max(0.2, ...ids.flatMap(id => [Math.abs(flat[id][0]) / 1.3, Math.abs(flat[id][1])]));
    const scale = 150 / span, point = id => [225 + flat[id][0] * scale, 185 - flat[id][1] * scale];
    const unit = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20].filter(km => km * scale < 160).pop() || 0.1;
    shape("line", { x1: 14, y1: 370, x2: 14 + unit * scale, y2: 370, stroke: "#16181d", "stroke-width": 3 });
    shape("text", { x: 14, y: 362, "font-size": 12 }, `${unit} km`);
    shape("polyline", { points: route.map(id => point(id).join(",")).join(" "), fill: "none", stroke: "#16181d", "stroke-width": 1.5 });
    const turned = new Set(item.turns.flatMap(turn => turn.rejected));
    ids.forEach((id, at) => {
      const [x, y] = point(id), order = route.indexOf(id), letter = String.fromCharCode(97 + at % 26), row = 130 + 17 * at;
      shape("circle", { cx: x, cy: y, r: 5, fill: order >= 0 ? "#16181d" : "#fff", stroke: "#16181d" });
      if (turned.has(id)) shape("path", { d: `M${x - 9},${y - 9}L${x + 9},${y + 9}M${x - 9},${y + 9}L${x + 9},${y - 9}`, stroke: "#b45309", "stroke-width": 2.5 });
      const angle = at * 2.4, far = 16; // the golden angle keeps the letters of a cluster apart
      shape("text", { x: x + far * Math.cos(angle) - 3, y: y + far * Math.sin(angle) + 4, "font-size": 12, "font-weight": 700, "paint-order": "stroke", stroke: "#fff", "stroke-width": 3 }, letter);
      if (row < 375) shape("text", { x: 470, y: row, "font-size": 11.5 }, `${letter}  ${data.places[id].name}${order >= 0 ? ` (${order + 1}.)` : ""}${turned.has(id) ? ", turned down" : ""}`);
    });
    const looks = [["#0072B2", ""], ["#007a58", "6 3"], ["#a0447f", "2 3"]];
    named.forEach((places, slot) => {
      const [stroke, dash] = looks[slot];
      for (const id of places) { const [x, y] = point(id), r = 10 + 4 * slot; shape("circle", { cx: x, cy: y, r, fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dash }); }
      shape("circle", { cx: 480, cy: 22 + 22 * slot, r: 7, fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dash });
      shape("text", { x: 496, y: 26 + 22 * slot, "font-size": 12 }, label(chosen[slot]));
    });
    shape("text", { x: 470, y: 100, "font-size": 11, "font-style": "italic" }, "filled: reference, in order; crossed: turned down");
  }
  const move = step => { pick.value = (Number(pick.value) + step + data.dialogues.length) % data.dialogues.length; show(); };
  document.getElementById("previous").addEventListener("click", () => move(-1));
  document.getElementById("next").addEventListener("click", () => move(1));
  pick.addEventListener("change", show);
  show();
}
