import type { CodeTemplate, MailTemplate } from './mail-template.ts';

/** The wording of a mail that proves who holds an address. */
export interface Wording {
  readonly subject: string;
  readonly reason: string;
  /** What the link does. */
  readonly action: string;
  readonly otherwise: string;
}

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

const paragraph = (content: string): string =>
  `<p style="margin:0 0 16px;${font};font-size:16px;line-height:24px;color:#1f2328">${content}</p>`;

const button = (label: string): string =>
  paragraph(
    `<a href="{{link}}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1f2328;color:#ffffff;text-decoration:none">${label}</a>`,
  );

const code =
  '<p style="margin:0 0 16px;font-family:Consolas,Menlo,monospace;font-size:24px;letter-spacing:2px;color:#1f2328">{{code}}</p>';

const page = (title: string, paragraphs: readonly string[]): string =>
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

const withLink = ({ subject, reason, action, otherwise }: Wording): MailTemplate => {
  const orCode = 'Or enter this code within {{minutes}} minutes:';
  return {
    subject,
    html: page(subject, [paragraph(reason), button(action), paragraph(orCode), code, paragraph(otherwise)]),
    text: `${reason}\n\n${action}: {{link}}\n\n${orCode} {{code}}\n\n${otherwise}\n`,
  };
};

const codeOnly = ({ subject, reason, otherwise }: Wording): MailTemplate => {
  const enter = 'Enter this code within {{minutes}} minutes:';
  return {
    subject,
    html: page(subject, [paragraph(reason), paragraph(enter), code, paragraph(otherwise)]),
    text: `${reason}\n\n${enter} {{code}}\n\n${otherwise}\n`,
  };
};

/** Lays a wording out; placeholders are `siteName`, `link`, `code` and `minutes`. */
export const codeTemplate = (wording: Wording): CodeTemplate => ({
  withLink: withLink(wording),
  codeOnly: codeOnly(wording),
});
