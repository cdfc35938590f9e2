const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** One paragraph of a built-in mail. */
export const paragraph = (content: string): string =>
  `<p style="margin:0 0 16px;${font};font-size:16px;line-height:24px;color:#1f2328">${content}</p>`;

/** A paragraph with a button that leads to `{{link}}`. */
export const button = (label: string): string =>
  paragraph(
    `<a href="{{link}}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1f2328;color:#ffffff;text-decoration:none">${label}</a>`,
  );

/** A paragraph with `{{code}}`, to be read and typed. */
export const code =
  '<p style="margin:0 0 16px;font-family:Consolas,Menlo,monospace;font-size:24px;letter-spacing:2px;color:#1f2328">{{code}}</p>';

/** The HTML of a built-in mail: no images, no scripts, nothing fetched from elsewhere. */
export const page = (title: string, paragraphs: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${title}</title></head>`,
    '<body style="margin:0;padding:32px 16px;background:#ffffff">',
    '<div style="max-width:480px;margin:0 auto">',
    ...paragraphs,
    '</div></body></html>',
  ].join('\n');
