interface Parts {
  readonly subject: string;
  readonly html?: string | null;
  readonly text?: string | null;
}

interface Names {
  [name: string]: Names | '';
}

/** As the service reads them. */
const placeholder = /\{\{\{\s*([^{}\s]+)\s*\}\}\}|\{\{\s*([^{}\s]+)\s*\}\}/g;

/** The service fills these in. */
const known: ReadonlySet<string> = new Set(['siteName']);

/** The variables of a template, each empty. `{{order.id}}` is `{"order": {"id": ""}}`. */
export const emptyVariables = ({ subject, html, text }: Parts): Names => {
  const found: Names = Object.create(null);
  for (const [, raw, escaped] of `${subject} ${html ?? ''} ${text ?? ''}`.matchAll(placeholder)) {
    const path = (raw ?? escaped ?? '').split('.');
    const last = path.pop() ?? '';
    if (path.length === 0 && known.has(last)) continue;
    let within = found;
    for (const name of path) {
      const next: Names = within[name] || Object.create(null);
      within[name] = next;
      within = next;
    }
    within[last] ||= '';
  }
  return found;
};
