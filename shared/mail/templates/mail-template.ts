/** A mail with placeholders, as `interpolate.ts` fills them in; a part that is `null` is left out of the mail. */
export interface MailContent {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** A template as mails are made from it. */
export interface MailTemplate extends MailContent {
  readonly name: string;
  /** What is used in its place where no `link` is given. */
  readonly withoutLink?: MailContent;
  /** Placeholder → another name that its variable may be given by. */
  readonly givenAs?: Readonly<Record<string, string>>;
  /** Placeholder → what it stands for where no variable is given. */
  readonly otherwise?: Readonly<Record<string, string>>;
  /** What `{{siteName}}` stands for where no variable of that name is given. */
  readonly siteName: string;
}

/** A template of the service's own; whoever sends it says what the site is called. */
export type BuiltIn = Omit<MailTemplate, 'siteName'>;
