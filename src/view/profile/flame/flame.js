// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Draws the trees of calls in the page's data. A tree is a list of numbers, four for each node, callers before callees and
// siblings in order: frame; levels from the previous node up to the parent; total; self. With times of running and of
// waiting there are two more: the parts of total and of self that were waiting.
"use strict";
(() => {
	const ROW = 20, PAD = 5, LEAST = 0.4;
	const $ = (id) => document.getElementById(id);
	const data = JSON.parse($("data").textContent);
	const canvas = $("flame"), pen = canvas.getContext("2d"), scroll = $("scroll"), spacer = $("spacer"), tip = $("tip");
	const WIDTH = data.mixed ? 6 : 4;
	const state = { tree: null, number: 0, part: "both", zoom: 0, cursor: 0, hover: -1, up: false, pattern: null };
	let matches = null, scheduled = false;

	// ---- The data

	// The weight to show, of a weight and the part of it that was waiting.
	const shown = (all, waited) => ({ both: all, running: all - waited, waiting: waited })[state.part];

	// A tree's nodes as columns, and the nodes of each level from left to right. Nodes without time in the shown part are
	// left out.
	function unpack(list) {
		const room = list.length / WIDTH + 1;
		const tree = {
			count: 1, frame: new Int32Array(room), parent: new Int32Array(room), depth: new Int32Array(room),
			start: new Float64Array(room), total: new Float64Array(room), self: new Float64Array(room),
			waited: new Float64Array(room), selfWaited: new Float64Array(room), levels: [[0]],
		};
		tree.frame[0] = -1;
		tree.parent[0] = -1;
		tree.total[0] = shown(data.weight, data.waited);
		tree.waited[0] = state.part === "running" ? 0 : data.waited;
		const next = new Float64Array(room); // the start of a node's next child
		const path = [0]; // the ancestors, by depth; -1: not shown
		for (let at = 0, depth = 0; at < list.length; at += WIDTH) {
			depth += 1 - list[at + 1];
			const parent = path[depth - 1], [all, self, waited = 0, selfWaited = 0] = list.slice(at + 2, at + WIDTH);

			path[depth] = -1;
			if (parent < 0 || !shown(all, waited))
				continue;
			const n = path[depth] = tree.count++;

			tree.frame[n] = list[at];
			tree.parent[n] = parent;
			tree.depth[n] = depth;
			tree.total[n] = shown(all, waited);
			tree.self[n] = shown(self, selfWaited);
			tree.waited[n] = state.part === "running" ? 0 : waited;
			tree.selfWaited[n] = state.part === "running" ? 0 : selfWaited;
			tree.start[n] = next[n] = next[parent];
			next[parent] += tree.total[n];
			(tree.levels[depth] ||= []).push(n);
		}
		return tree;
	}

	const name = (node) => state.tree.frame[node] < 0 ? "all" : data.names[data.frames[2 * state.tree.frame[node]]];
	const image = (node) => state.tree.frame[node] < 0 ? "" : data.names[data.frames[2 * state.tree.frame[node] + 1]];
	const percent = (part) => (state.tree.total[0] ? 100 * part / state.tree.total[0] : 0).toFixed(2) + " %";

	function amount(part) {
		const value = part * data.scale;

		if (data.unit === "ns") {
			const units = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3], ["ns", 1]];
			const [unit, size] = units.find(([, least]) => value >= least) || units[3];
			return (value / size).toLocaleString("en", { maximumSignificantDigits: 4 }) + " " + unit;
		}
		return value.toLocaleString("en") + " " + data.unit;
	}

	// ---- Long names: first without the contents of brackets, then without the part before the last "::"

	const shortened = new Map();

	function withoutBrackets(text) {
		const hide = (part) => part.replace(/[()<>]/g, (sign) => String.fromCharCode(0xe000 + sign.charCodeAt(0)));
		let rest = text.replace(/\boperator(\(\)|[-<>=]+)|\(anonymous namespace\)/g, hide), before;

		do {
			before = rest;
			rest = rest.replace(/<[^<>()]*>|\([^<>()]*\)/g, "");
		} while (rest !== before);
		return rest.replace(/[\ue028\ue029\ue03c\ue03e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xe000));
	}

	function shorter(text) {
		if (!shortened.has(text)) {
			const bare = withoutBrackets(text) || text;

			shortened.set(text, [text, bare, bare.slice(bare.lastIndexOf("::") + 1).replace(/^:/, "") || bare]);
		}
		return shortened.get(text);
	}

	// ---- Colours: a hue for each image, a shade for each function; the kernel is red, nodes of programs and threads grey

	const hues = new Map();
	const notWaiting = (hue) => hue < 190 ? hue : hue + 40;

	function hash(text) {
		let value = 2166136261;

		for (let n = 0; n < text.length; n++)
			value = Math.imul(value ^ text.charCodeAt(n), 16777619);
		return value >>> 0;
	}

	function colour(node, dark) {
		const of = image(node), text = name(node);

		if (!of || of === "program" || of === "thread")
			return dark ? "hsl(220 6% 30%)" : "hsl(40 10% 84%)";
		if (!hues.has(of))
			hues.set(of, of.startsWith("[kernel") ? 4 : notWaiting(24 + hash(of) % 260));
		const shade = hash(text) % 12;
		return dark ? `hsl(${hues.get(of)} 38% ${27 + shade}%)` : `hsl(${hues.get(of)} 62% ${71 + shade}%)`;
	}

	// The height of the part of a frame that has the colour of waiting.
	const waitedHeight = (node) => state.tree.waited[node] ? Math.max(2, (ROW - 1) * state.tree.waited[node] / state.tree.total[node]) : 0;

	const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark";

	// ---- Drawing

	const height = () => state.tree.levels.length * ROW;
	const rowTop = (depth) => state.up ? Math.max(height(), scroll.clientHeight - 16) - (depth + 1) * ROW : depth * ROW;
	const widthOf = () => canvas.clientWidth;

	function span(node) {
		const { tree, zoom } = state, scale = widthOf() / (tree.total[zoom] || 1);
		const left = (tree.start[node] - tree.start[zoom]) * scale, right = left + tree.total[node] * scale;

		return [Math.max(0, left), Math.min(widthOf(), right)];
	}

	// The first node of a level that ends after a position.
	function firstAt(level, position) {
		const { start, total } = state.tree;
		let low = 0, high = level.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (start[level[middle]] + total[level[middle]] <= position)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	function drawNode(node, left, right, top, style) {
		const dimmed = state.tree.depth[node] < state.tree.depth[state.zoom];

		pen.globalAlpha = dimmed ? 0.55 : 1;
		pen.fillStyle = matches ? (matches[node] ? style.match : style.other) : colour(node, style.dark);
		const wide = Math.max(right - left - (right - left > 3 ? 1 : 0), LEAST), cold = waitedHeight(node);
		pen.fillRect(left, top, wide, ROW - 1);
		if (cold && !matches) {
			pen.fillStyle = style.waiting;
			pen.fillRect(left, top + ROW - 1 - cold, wide, cold);
		}
		if (node === state.hover || (node === state.cursor && document.activeElement === canvas)) {
			pen.strokeStyle = style.ink;
			pen.lineWidth = 2;
			pen.strokeRect(left + 1, top + 1, Math.max(right - left - 3, 1), ROW - 3);
		}
		const room = right - left - 2 * PAD;
		if (room > 14) {
			const fits = Math.floor(room / style.letter), names = shorter(name(node));
			let text = names.find((one) => one.length <= fits) || names.at(-1);

			if (text.length > fits)
				text = fits > 2 ? text.slice(0, fits - 1) + "\u2026" : "";
			pen.fillStyle = matches && matches[node] ? "#1c1206" : style.text;
			pen.fillText(text, left + PAD, top + ROW / 2);
		}
		pen.globalAlpha = 1;
	}

	function draw() {
		scheduled = false;
		const { tree, zoom } = state, ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
		const wide = scroll.clientWidth - 32, high = scroll.clientHeight - 16, dark = isDark();

		spacer.style.height = Math.max(height(), high) + "px";
		if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
			canvas.width = Math.round(wide * ratio);
			canvas.height = Math.round(high * ratio);
			canvas.style.height = high + "px";
		}
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.clearRect(0, 0, wide, high);
		pen.font = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, monospace";
		pen.textBaseline = "middle";
		const look = {
			dark, letter: pen.measureText("m").width, ink: style.getPropertyValue("--ink"), text: style.getPropertyValue("--frame-ink"),
			waiting: style.getPropertyValue("--waiting"), match: dark ? "#ffb454" : "#ff9a3c", other: dark ? "#2c2e33" : "#e9e6df",
		};
		const scale = wide / (tree.total[zoom] || 1), from = tree.start[zoom], to = from + tree.total[zoom];
		for (let depth = 0; depth < tree.levels.length; depth++) {
			const top = rowTop(depth) - scroll.scrollTop, level = tree.levels[depth];

			if (top < -ROW || top > high)
				continue;
			for (let at = firstAt(level, from); at < level.length && tree.start[level[at]] < to; at++) {
				const node = level[at], left = Math.max(0, (tree.start[node] - from) * scale);
				const right = Math.min(wide, (tree.start[node] + tree.total[node] - from) * scale);

				if (right - left >= LEAST)
					drawNode(node, left, right, top, look);
			}
		}
	}

	function redraw() {
		if (!scheduled) {
			scheduled = true;
			requestAnimationFrame(draw);
		}
	}

	// ---- Texts

	const waitingText = (all, waited) => state.part === "both" && waited ? `, ${amount(waited)} (${(100 * waited / all).toFixed(1)} %) of it waiting` : "";

	function showStatus(node) {
		const { tree } = state, of = image(node);
		$("status").textContent = node < 0 ? "\u00a0" : `${name(node)}${of ? " (" + of + ")" : ""}: total ${percent(tree.total[node])}, ` +
			`${amount(tree.total[node])}${waitingText(tree.total[node], tree.waited[node])}; self ${percent(tree.self[node])}`;
	}

	function showTip(node, x, y) {
		const { tree } = state;

		tip.hidden = node < 0;
		if (node < 0)
			return;
		tip.replaceChildren();
		const line = (kind, text) => tip.appendChild(document.createElement(kind)).append(text);
		line("b", name(node));
		if (image(node))
			line("div", image(node));
		line("div", `total ${percent(tree.total[node])}  \u00b7  ${amount(tree.total[node])}${waitingText(tree.total[node], tree.waited[node])}`);
		line("div", `self ${percent(tree.self[node])}  \u00b7  ${amount(tree.self[node])}${waitingText(tree.self[node], tree.selfWaited[node])}`);
		if (tree.parent[node] > 0)
			line("div", `${(100 * tree.total[node] / tree.total[tree.parent[node]]).toFixed(1)} % of its caller`);
		const box = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
		tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 12) : y + 18) + "px";
	}

	function showPath() {
		const path = $("path"), nodes = [];

		path.replaceChildren();
		for (let node = state.zoom; node > 0; node = state.tree.parent[node])
			nodes.unshift(node);
		for (const node of nodes.length ? [0, ...nodes] : []) {
			const step = document.createElement("button");

			step.type = "button";
			step.textContent = name(node);
			step.onclick = () => zoom(node);
			if (node)
				path.append(" \u203a ");
			path.append(step);
		}
	}

	// ---- Zoom and search

	function zoom(node) {
		state.zoom = state.cursor = node;
		state.hover = -1;
		showTip(-1);
		showPath();
		search();
		reveal(node);
		redraw();
	}

	// Scrolls to a node's row.
	function reveal(node) {
		const top = rowTop(state.tree.depth[node]), high = scroll.clientHeight - 16;

		if (top < scroll.scrollTop || top + 3 * ROW > scroll.scrollTop + high)
			scroll.scrollTop = state.up ? top - high + 3 * ROW : top - ROW;
	}

	// Marks matching nodes, and shows their share of the zoomed node. A match inside another match counts once.
	function search() {
		const { tree, pattern, zoom: root } = state;
		let sum = 0, count = 0;

		matches = null;
		if (pattern) {
			const fits = new Uint8Array(data.frames.length / 2), counted = new Uint8Array(tree.count);
			const from = tree.start[root], to = from + tree.total[root];

			for (let n = 0; n < fits.length; n++)
				fits[n] = pattern.test(data.names[data.frames[2 * n]]) ? 1 : 0;
			matches = new Uint8Array(tree.count);
			for (let n = 1; n < tree.count; n++) {
				matches[n] = fits[tree.frame[n]];
				counted[n] = matches[n] | counted[tree.parent[n]];
				if (tree.start[n] < from || tree.start[n] >= to || (tree.depth[n] < tree.depth[root]))
					continue;
				count += matches[n];
				if (matches[n] && !counted[tree.parent[n]])
					sum += tree.total[n];
			}
			if (counted[root])
				sum = tree.total[root];
		}
		state.matched = pattern ? { share: 100 * sum / (tree.total[root] || 1), count } : null;
		$("matched").textContent = pattern ? `${state.matched.share.toFixed(2)} % in ${count.toLocaleString("en")}` : "";
		$("reset").disabled = !root && !pattern;
		redraw();
	}

	function setPattern(text) {
		let pattern = null, bad = false;

		if (text) {
			try {
				pattern = new RegExp(text, "i");
			} catch {
				bad = true;
			}
		}
		$("search").classList.toggle("bad", bad);
		state.pattern = pattern;
		search();
	}

	function reset() {
		$("search").value = "";
		state.pattern = null;
		zoom(0);
	}

	// The frames from the outermost to a node; and the last node along such a path that exists.
	function pathTo(node) {
		const path = [];

		for (; node > 0; node = state.tree.parent[node])
			path.unshift(state.tree.frame[node]);
		return path;
	}

	function follow(path) {
		const { tree } = state;
		let node = 0;

		for (const frame of path) {
			const next = (tree.levels[tree.depth[node] + 1] || []).find((one) => tree.parent[one] === node && tree.frame[one] === frame);

			if (next === undefined)
				break;
			node = next;
		}
		return node;
	}

	// Shows a tree, with times of running, of waiting, or both. The zoom is kept within the same tree.
	function setTree(number, part) {
		const entry = data.trees[number], path = state.tree && number === state.number ? pathTo(state.zoom) : [];

		Object.assign(state, { number, part });
		entry[part] ||= unpack(entry.nodes);
		state.tree = entry[part];
		for (const button of $("trees").children)
			button.setAttribute("aria-pressed", String(button.dataset.tree === String(number)));
		for (const button of $("parts").children)
			button.setAttribute("aria-pressed", String(button.dataset.part === part));
		state.zoom = state.cursor = 0;
		scroll.scrollTop = state.up ? spacer.scrollHeight : 0;
		zoom(follow(path));
	}

	// ---- Pointer and keys

	function nodeAt(event) {
		const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top + scroll.scrollTop;
		const { tree, zoom: root } = state;
		const depth = state.up ? Math.floor((Math.max(height(), scroll.clientHeight - 16) - y) / ROW) : Math.floor(y / ROW);
		const level = tree.levels[depth], position = tree.start[root] + x / widthOf() * tree.total[root];

		if (!level || x < 0 || x > widthOf())
			return -1;
		const node = level[firstAt(level, position)];
		return node !== undefined && tree.start[node] <= position ? node : -1;
	}

	canvas.addEventListener("mousemove", (event) => {
		const node = nodeAt(event);

		if (node !== state.hover)
			redraw();
		state.hover = node;
		canvas.style.cursor = node < 0 ? "default" : "pointer";
		showStatus(node);
		showTip(node, event.clientX, event.clientY);
	});
	canvas.addEventListener("mouseleave", () => {
		state.hover = -1;
		showTip(-1);
		redraw();
	});
	canvas.addEventListener("click", (event) => {
		const node = nodeAt(event);

		if (node >= 0) {
			canvas.focus({ preventScroll: true });
			zoom(node);
		}
	});

	// The caller, the widest child, or the neighbour to a side.
	function step(node, way) {
		const { tree } = state, level = tree.levels[tree.depth[node] + (way === "in" ? 1 : 0)];

		if (way === "out")
			return tree.parent[node] >= 0 ? tree.parent[node] : node;
		if (way === "in") {
			const child = level && level[firstAt(level, tree.start[node])];
			return child !== undefined && tree.parent[child] === node ? child : node;
		}
		const at = level.indexOf(node) + (way === "left" ? -1 : 1), other = level[at];
		const [left, right] = other === undefined ? [0, 0] : span(other);
		return right > left ? other : node;
	}

	canvas.addEventListener("keydown", (event) => {
		const ways = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: state.up ? "in" : "out", ArrowDown: state.up ? "out" : "in" };

		if (ways[event.key])
			state.cursor = step(state.cursor, ways[event.key]);
		else if (event.key === "Enter" || event.key === " ")
			zoom(state.cursor);
		else if (event.key === "Backspace")
			zoom(Math.max(0, state.tree.parent[state.zoom]));
		else
			return;
		event.preventDefault();
		showStatus(state.cursor);
		reveal(state.cursor);
		redraw();
	});
	document.addEventListener("keydown", (event) => {
		if (event.key === "/" && document.activeElement !== $("search")) {
			event.preventDefault();
			$("search").focus();
		} else if (event.key === "Escape") {
			reset();
			canvas.focus({ preventScroll: true });
		}
	});
	for (const kind of ["focus", "blur"])
		canvas.addEventListener(kind, redraw);

	// ---- Start

	$("search").addEventListener("input", (event) => setPattern(event.target.value));
	$("reset").addEventListener("click", reset);
	$("theme").addEventListener("click", () => {
		document.documentElement.dataset.theme = isDark() ? "light" : "dark";
		redraw();
	});
	for (const button of $("directions").children) {
		button.addEventListener("click", () => {
			state.up = button.dataset.up === "1";
			for (const other of $("directions").children)
				other.setAttribute("aria-pressed", String(other === button));
			draw();
			scroll.scrollTop = state.up ? spacer.scrollHeight : 0;
			redraw();
		});
	}
	if (data.trees.length > 1) {
		data.trees.forEach((entry, number) => {
			const button = $("trees").appendChild(document.createElement("button"));

			button.type = "button";
			button.textContent = entry.label;
			button.dataset.tree = number;
			button.addEventListener("click", () => setTree(number, state.part));
		});
	}
	for (const button of $("parts").children)
		button.addEventListener("click", () => setTree(state.number, button.dataset.part));
	$("parts").hidden = !data.mixed;
	$("title").textContent = document.title = data.title;
	$("subtitle").textContent = data.about.trim().replaceAll("\n", "; ");
	$("missing").querySelector("summary").textContent = data.pruned + " \u00b7 what is missing";
	$("missing").querySelector("pre").textContent = data.missing;
	scroll.addEventListener("scroll", redraw);
	new ResizeObserver(redraw).observe(scroll);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
	setTree(0, "both");
	draw();
	window.burinFlame = { state, name, shorter, span, rowTop, opened: performance.now() }; // for tests
})();
