import { code, page, paragraph } from './layout.ts';
import type { MailContent } from './mail-template.ts';

const subject = 'Your code for {{siteName}}';
const enter = 'Enter this code at {{siteName}}:';
const otherwise = 'If you did not ask for it, you can ignore this mail.';

/** Brings a code that the project has made itself; placeholders are `siteName` and `code`. */
export const otpTemplate: MailContent = {
  subject,
  html: page(subject, [paragraph(enter), code, paragraph(otherwise)]),
  text: `${enter} {{code}}\n\n${otherwise}\n`,
};
