import path from 'node:path';
import { startHelper } from './helper-process.ts';
import type { LocalServiceOptions } from './local-service.ts';
import { preferPort, probePort } from './ports.ts';
import { type StandIn, type StandInOrigins, standInEnvironment, standIns } from './social-stand-ins.ts';

export interface Providers {
  /** Origins of what stands for the identity providers. */
  readonly socialUrls: StandInOrigins;
  /** Origin of the emulated mail provider. */
  readonly mailUrl: string;
  stop(): Promise<void>;
}

/** Where the mail provider tells of its mails, and the setting of who listens there. */
export interface MailWebhook {
  readonly url: string;
  readonly secrets: string;
}

const host = path.join(import.meta.dirname, 'provider-host.ts');

/** Preferred places after the port of the public API, so that a page stays where it was from one start to the next. */
const mailPlace = 3;
const standInPlaces: Readonly<Record<StandIn, number>> = { github: 4, google: 5, openid: 9 };

/**
 * Starts the identity providers and the mail provider as emulations on loopback, on the ports after `port` where those
 * are free. What they hold, mails included, is gone when they stop.
 */
export const startProviders = async (
  port: number,
  webhook: MailWebhook,
  options: LocalServiceOptions,
): Promise<Providers> => {
  const portOf = (place: number): Promise<number> => preferPort(port === 0 ? 0 : port + place);
  const mail = await portOf(mailPlace);
  const ports: number[] = [];
  for (const name of standIns) ports.push(await portOf(standInPlaces[name]));
  const [github, google, openid] = ports;
  const args = [mail, await probePort(0), webhook.url, ...ports].map(String);
  const env = { MAIL_WEBHOOK_SECRET: webhook.secrets };
  const { stop } = await startHelper({ ...options, name: 'The emulated providers', file: host, args, env });
  const at = (number: number | undefined): string => `http://127.0.0.1:${number}`;
  return { socialUrls: { github: at(github), google: at(google), openid: at(openid) }, mailUrl: at(mail), stop };
};

/** What tells functions where the providers are. */
export const providerEnvironment = ({ socialUrls, mailUrl }: Providers): Record<string, string> => ({
  ...standInEnvironment(socialUrls),
  // The emulation takes any app.
  DASHBOARD_GITHUB_CLIENT_ID: 'local',
  DASHBOARD_GITHUB_SECRET: 'local',
  MAIL_PROVIDER_URL: mailUrl,
  MAIL_PROVIDER_KEY: 're_local',
  EMAIL_FROM: 'Basalt <no-reply@basalt.local>',
});

/** The page on which a person reads the mails that went out. */
export const inboxOf = ({ mailUrl }: Providers): string => `${mailUrl}/inbox`;
