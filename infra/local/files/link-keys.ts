import { linkKeyOf, publicPem } from '../../../shared/files/link-keys.ts';

/** The name of the one key that signs links to files on this machine. */
export const localLinkKey = 'local';

/** What the origin of files checks links with. */
export const localLinkKeys = async (): Promise<Readonly<Record<string, string>>> => ({
  [localLinkKey]: publicPem(await linkKeyOf(localLinkKey)),
});
