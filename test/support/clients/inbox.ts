import { setTimeout as pause } from 'node:timers/promises';
import { inject } from 'vitest';

/** An email at the fake provider; lists are oldest first. */
export interface ReceivedMail {
  readonly id: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

const patienceMs = 120_000;

/** The emails to an address; `provider` for another service than the test run's. */
export const mailsTo = async (address: string, provider?: string): Promise<readonly ReceivedMail[]> => {
  const origin = provider ?? inject('stack').env.MAIL_PROVIDER_URL ?? '';
  const response = await fetch(`${origin}/emails?to=${encodeURIComponent(address)}`);
  return ((await response.json()) as { readonly data: readonly ReceivedMail[] }).data;
};

/** Waits until `count` emails to an address have arrived and returns the newest. Throws after two minutes. */
export const mailTo = async (address: string, count = 1, provider?: string): Promise<ReceivedMail> => {
  const end = Date.now() + patienceMs;
  for (;;) {
    const mails = await mailsTo(address, provider);
    const latest = mails[count - 1];
    if (latest) return latest;
    if (Date.now() > end) throw new Error(`${mails.length} of ${count} mails to ${address} arrived in time`);
    await pause(50);
  }
};

/** Waits for the first email to an address with a matching subject; developers also get one when they register. */
export const mailAbout = async (address: string, subject: RegExp, provider?: string): Promise<ReceivedMail> => {
  const end = Date.now() + patienceMs;
  for (;;) {
    const found = (await mailsTo(address, provider)).find((mail) => subject.test(mail.subject));
    if (found) return found;
    if (Date.now() > end) throw new Error(`No mail to ${address} like ${subject} arrived in time`);
    await pause(50);
  }
};

const first = (pattern: RegExp, { text }: ReceivedMail): string => {
  const found = pattern.exec(text)?.[0];
  if (found === undefined) throw new Error(`Nothing like ${pattern} in the mail:\n${text}`);
  return found;
};

/** The link in an email. */
export const linkIn = (mail: ReceivedMail): URL => new URL(first(/https?:\/\/\S+/, mail));

/** The token of the link in an email. */
export const tokenIn = (mail: ReceivedMail): string => linkIn(mail).searchParams.get('token') ?? '';

/** The code in an email, `XXXX-XXXX`. The token of a link may contain such characters too, between others. */
export const codeIn = (mail: ReceivedMail): string => first(/(?<![\w-])[A-Z2-9]{4}-[A-Z2-9]{4}(?![\w-])/, mail);
