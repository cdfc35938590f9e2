import path from 'node:path';
import { startHelper } from './helper-process.ts';
import type { LocalServiceOptions } from './local-service.ts';
import { originAt, portAfter, preferPort, probePort } from './ports.ts';
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

/** Preferred places after the port of the public API. */
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
  const portOf = (place: number): Promise<number> => preferPort(portAfter(port, place));
  const mail = await portOf(mailPlace);
  const github = await portOf(standInPlaces.github);
  const google = await portOf(standInPlaces.google);
  const openid = await portOf(standInPlaces.openid);
  const ports = { github, google, openid };
  const args = [mail, await probePort(0), webhook.url, ...standIns.map((name) => ports[name])].map(String);
  const env = { MAIL_WEBHOOK_SECRET: webhook.secrets };
  const { stop } = await startHelper({ ...options, name: 'The emulated providers', file: host, args, env });
  const socialUrls = { github: originAt(github), google: originAt(google), openid: originAt(openid) };
  return { socialUrls, mailUrl: originAt(mail), stop };
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
