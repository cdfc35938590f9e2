/** A mail with placeholders, as `interpolate.ts` fills them in. */
export interface MailTemplate {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** A mail that carries a code, and a link too where the project has a site to lead to. */
export interface CodeTemplate {
  readonly withLink: MailTemplate;
  readonly codeOnly: MailTemplate;
}
