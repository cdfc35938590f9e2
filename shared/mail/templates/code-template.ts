import { button, code, page, paragraph } from './layout.ts';
import type { MailContent } from './mail-template.ts';

/** The wording of a mail that proves who holds an address. */
export interface Wording {
  readonly subject: string;
  readonly reason: string;
  /** What the link does. */
  readonly action: string;
  readonly otherwise: string;
}

const withLink = ({ subject, reason, action, otherwise }: Wording): MailContent => {
  const orCode = 'Or enter this code within {{minutes}} minutes:';
  return {
    subject,
    html: page(subject, [paragraph(reason), button(action), paragraph(orCode), code, paragraph(otherwise)]),
    text: `${reason}\n\n${action}: {{link}}\n\n${orCode} {{code}}\n\n${otherwise}\n`,
  };
};

const withoutLink = ({ subject, reason, otherwise }: Wording): MailContent => {
  const enter = 'Enter this code within {{minutes}} minutes:';
  return {
    subject,
    html: page(subject, [paragraph(reason), paragraph(enter), code, paragraph(otherwise)]),
    text: `${reason}\n\n${enter} {{code}}\n\n${otherwise}\n`,
  };
};

/**
 * Lays a wording out; placeholders are `siteName`, `link`, `code` and `minutes`. Without a link it shows the code
 * alone.
 */
export const codeTemplate = (wording: Wording): MailContent & { readonly withoutLink: MailContent } => ({
  ...withLink(wording),
  withoutLink: withoutLink(wording),
});
