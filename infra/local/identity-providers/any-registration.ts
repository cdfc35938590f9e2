import { generateKeyPairSync } from 'node:crypto';
import { forEachProvider, socialProviders } from '../../../shared/projects/social/providers.ts';
import type { SocialSettings } from '../../../shared/projects/social/settings.ts';

const anyKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Settings with which every provider is enabled, under this id and secret: the stand-ins take any. */
export const anyRegistrations = (clientId: string, clientSecret: string): Record<string, SocialSettings> =>
  forEachProvider((name) => {
    const { texts, secret } = socialProviders[name].registration;
    return {
      enabled: true,
      ...Object.fromEntries(texts.map((text) => [text, clientId])),
      [secret]: secret === 'privateKey' ? anyKey() : clientSecret,
    };
  });
