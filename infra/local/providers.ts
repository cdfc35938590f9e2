import path from 'node:path';
import { type LocalServiceOptions, startHelper } from './helper-process.ts';
import { type FakeName, type FakeOrigins, fakeEnvironment, fakeNames } from './identity-providers/fakes.ts';
import { originAt, portAfter, preferPort, probePort } from './ports.ts';

export interface Providers {
  readonly socialUrls: FakeOrigins;
  readonly mailUrl: string;
  stop(): Promise<void>;
}

/** The receiver of email events, and the setting with its secrets. */
export interface MailWebhook {
  readonly url: string;
  readonly secrets: string;
}

const host = path.join(import.meta.dirname, 'provider-host.ts');

/** Preferred ports, counted from the public API's. */
const mailOffset = 3;
const fakeOffsets: Readonly<Record<FakeName, number>> = { github: 4, google: 5, openid: 9 };

/** Starts the fake identity and mail providers on loopback. Emails and all their other data are lost when they stop. */
export const startProviders = async (
  port: number,
  webhook: MailWebhook,
  options: LocalServiceOptions,
): Promise<Providers> => {
  const portOf = (offset: number): Promise<number> => preferPort(portAfter(port, offset));
  const mail = await portOf(mailOffset);
  const github = await portOf(fakeOffsets.github);
  const google = await portOf(fakeOffsets.google);
  const openid = await portOf(fakeOffsets.openid);
  const ports = { github, google, openid };
  const args = [mail, await probePort(0), webhook.url, ...fakeNames.map((name) => ports[name])].map(String);
  const env = { MAIL_WEBHOOK_SECRET: webhook.secrets };
  const { stop } = await startHelper({ ...options, name: 'The fake providers', file: host, args, env });
  const socialUrls = { github: originAt(github), google: originAt(google), openid: originAt(openid) };
  return { socialUrls, mailUrl: originAt(mail), stop };
};

/** The environment variables that lead functions to the providers. */
export const providerEnvironment = ({ socialUrls, mailUrl }: Providers): Record<string, string> => ({
  ...fakeEnvironment(socialUrls),
  // The fake accepts any app.
  DASHBOARD_GITHUB_CLIENT_ID: 'local',
  DASHBOARD_GITHUB_SECRET: 'local',
  MAIL_PROVIDER_URL: mailUrl,
  MAIL_PROVIDER_KEY: 're_local',
  EMAIL_FROM: 'Basalt <no-reply@basalt.local>',
});

/** The page that shows sent emails. */
export const inboxOf = ({ mailUrl }: Providers): string => `${mailUrl}/inbox`;
