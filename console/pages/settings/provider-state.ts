import { titles } from 'basalt:providers';
import { accounts } from '../../text/accounts.ts';
import { marks, openIdMark } from './provider-marks.ts';
import type { SettingsProps } from './settings.tsx';

/** The registration of a provider as the project shows it. */
export type Shown = SettingsProps['project']['socialProviders']['github'];

const texts = ['issuer', 'clientId', 'teamId', 'keyId'] as const;

type TextName = (typeof texts)[number];
type SecretName = 'clientSecret' | 'privateKey';

export const isByDiscovery = (provider: string): boolean => provider.startsWith('oidc:');

export const titleOf = (provider: string): string => titles[provider] ?? provider.slice('oidc:'.length);

export const markOf = (provider: string): string => marks[provider] ?? openIdMark;

/** The texts and the secret that a provider asks for, and whether a secret is stored. */
export const fieldsOf = (shown: Shown) => ({
  fields: texts.filter((name) => shown[name] !== undefined),
  secret: shown.hasPrivateKey === undefined ? ('clientSecret' as const) : ('privateKey' as const),
  isKept: shown.hasClientSecret ?? shown.hasPrivateKey ?? false,
});

/** The names of the fields without a value. */
export const missingOf = (
  fields: readonly TextName[],
  textOf: (name: TextName) => string | null | undefined,
  secret: SecretName,
  hasSecret: boolean,
): readonly string[] =>
  [...fields.filter((name) => !textOf(name)), ...(hasSecret ? [] : [secret])].map((name) => accounts.providers[name]);

export type State = 'on' | 'off' | 'incomplete' | 'unset';

/** The state of a provider, and what it lacks. */
export const stateOf = (shown: Shown): { readonly state: State; readonly missing: readonly string[] } => {
  const { fields, secret, isKept } = fieldsOf(shown);
  const missing = missingOf(fields, (name) => shown[name], secret, isKept);
  if (shown.enabled) return { state: 'on', missing };
  if (missing.length === 0) return { state: 'off', missing };
  return { state: missing.length > fields.length ? 'unset' : 'incomplete', missing };
};

/** Where developers register an app. */
export const registers: Readonly<Record<string, string>> = {
  github: 'https://github.com/settings/developers',
  google: 'https://console.cloud.google.com/apis/credentials',
  microsoft: 'https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade',
  apple: 'https://developer.apple.com/account/resources/identifiers/list/serviceId',
  gitlab: 'https://gitlab.com/-/user_settings/applications',
  linkedin: 'https://www.linkedin.com/developers/apps',
  twitch: 'https://dev.twitch.tv/console/apps',
  slack: 'https://api.slack.com/apps',
  discord: 'https://discord.com/developers/applications',
  facebook: 'https://developers.facebook.com/apps',
  spotify: 'https://developer.spotify.com/dashboard',
};
