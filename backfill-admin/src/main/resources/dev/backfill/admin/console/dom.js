// Builds elements. Text only ever enters as text: nothing here reads markup, so whatever a server, an author or an
// operator wrote is shown as the characters it is.

const SVG = "http://www.w3.org/2000/svg";

/** An element; children are nodes, strings, arrays, or null for none. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Words of somebody else: shown in their own direction, whatever stands beside them. */
export function foreign(text, tag = "bdi") {
  return h(tag, { class: "foreign", dir: "auto" }, text);
}

/**
 * Replaces what a container shows, but only if what it is made from has changed, and hands the focus to the element
 * with the same data-key, so that a refresh never takes the keyboard away from somebody.
 */
export function swap(container, signature, build) {
  const text = JSON.stringify(signature);
  if (container.dataset.signature === text) return;
  const key = container.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  container.replaceChildren(...[build()].flat(Infinity).filter(Boolean));
  container.dataset.signature = text;
  if (key) [...container.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key)?.focus();
}
