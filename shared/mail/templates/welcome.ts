import { button, page, paragraph } from './layout.ts';
import type { MailContent } from './mail-template.ts';

const subject = 'Welcome to {{siteName}}';
const greeting = 'Welcome to {{siteName}}! Your account is ready.';
const action = 'Get started';

/** Greets a new user; placeholders are `siteName` and `link`, which may be left out. */
export const welcomeTemplate: MailContent & { readonly withoutLink: MailContent } = {
  subject,
  html: page(subject, [paragraph(greeting), button(action)]),
  text: `${greeting}\n\n${action}: {{link}}\n`,
  withoutLink: { subject, html: page(subject, [paragraph(greeting)]), text: `${greeting}\n` },
};
