/** Values by name; objects and arrays are reached into with dots. */
export type Variables = Readonly<Record<string, unknown>>;

const placeholder = /\{\{\{\s*([^{}\s]+)\s*\}\}\}|\{\{\s*([^{}\s]+)\s*\}\}/g;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

const unbroken = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ');

/** The text of the value at a dotted path; own properties only, and empty for what is missing or no text, number or boolean. */
const textAt = (variables: Variables, path: string): string => {
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return '';
    value = (value as Variables)[key];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/** Replaces every placeholder; a value is never read as a template itself. */
const fill = (template: string, variables: Variables, show: (text: string) => string, showRaw = show): string =>
  template.replace(placeholder, (_whole, raw: string | undefined, name: string | undefined) =>
    raw === undefined ? show(textAt(variables, name ?? '')) : showRaw(textAt(variables, raw)),
  );

const asItIs = (text: string): string => text;

/** Fills HTML in: `{{name}}` escaped, `{{{name}}}` as it is (contract 5, "Templates"). */
export const interpolateHtml = (template: string, variables: Variables): string =>
  fill(template, variables, escapeHtml, asItIs);

/** Fills plain text in, with the values as they are. */
export const interpolateText = (template: string, variables: Variables): string => fill(template, variables, asItIs);

/** Fills a subject in: as plain text, but control characters and line breaks of values become spaces (contract 5, "send"). */
export const interpolateSubject = (template: string, variables: Variables): string =>
  fill(template, variables, unbroken);
