import type { MailContent } from './render-template.ts';

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

interface Part {
  readonly html: string;
  readonly text: string;
}

export const paragraph = (words: string): Part => ({
  html: `<p style="margin:0 0 16px;${font};font-size:16px;line-height:24px;color:#1f2328">${words}</p>`,
  text: words,
});

/** A button that leads to `{{link}}`. */
export const button = (label: string): Part => ({
  html: paragraph(
    `<a href="{{link}}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1f2328;color:#ffffff;text-decoration:none">${label}</a>`,
  ).html,
  text: `${label}: {{link}}`,
});

/** Words and, below them, `{{code}}`, to be read and typed. */
export const code = (words: string): Part => ({
  html: `${paragraph(words).html}\n<p style="margin:0 0 16px;font-family:Consolas,Menlo,monospace;font-size:24px;letter-spacing:2px;color:#1f2328">{{code}}</p>`,
  text: `${words} {{code}}`,
});

/** Words and, below them, `{{token}}`, to be copied. */
export const token = (words: string): Part => ({
  html: `${paragraph(words).html}\n${paragraph('<code style="font-size:14px">{{token}}</code>').html}`,
  text: `${words} {{token}}`,
});

/** A built-in mail of these parts: no images, no scripts, nothing fetched from elsewhere. */
export const letter = (subject: string, ...parts: readonly Part[]): MailContent => ({
  subject,
  html: [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${subject}</title></head>`,
    '<body style="margin:0;padding:32px 16px;background:#ffffff">',
    '<div style="max-width:480px;margin:0 auto">',
    ...parts.map(({ html }) => html),
    '</div></body></html>',
  ].join('\n'),
  text: `${parts.map(({ text }) => text).join('\n\n')}\n`,
});
