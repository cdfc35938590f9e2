import { button, page, paragraph } from './layout.ts';
import type { MailContent } from './mail-template.ts';

/** The wording of a mail that greets somebody by name. */
export interface Greeting {
  readonly subject: string;
  readonly words: string;
  /** What the link does. */
  readonly action: string;
}

const hello = 'Hi {{name}},';

/** Lays a greeting out; placeholders are `siteName`, `name` and `link`, which may be left out. */
export const greetingTemplate = ({
  subject,
  words,
  action,
}: Greeting): MailContent & { readonly withoutLink: MailContent } => ({
  subject,
  html: page(subject, [paragraph(hello), paragraph(words), button(action)]),
  text: `${hello}\n\n${words}\n\n${action}: {{link}}\n`,
  withoutLink: {
    subject,
    html: page(subject, [paragraph(hello), paragraph(words)]),
    text: `${hello}\n\n${words}\n`,
  },
});
