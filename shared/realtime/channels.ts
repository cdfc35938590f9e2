import { hash } from 'node:crypto';
import { type Collection, isPrivate, requiresFactor } from '../collections/collection.ts';
import type { Caller } from '../projects/project.ts';

/** The namespace of the Event API in which all channels are. */
export const channelNamespace = 'live';

/** Whose nudges a channel carries: those of everybody, all of a private collection, or one user's own. */
export type Audience = 'everybody' | 'secret key' | { readonly userId: string };

/** A segment of a channel has up to 50 letters, digits and dashes, and a user's id may be any text. */
const segmentOf = (audience: Audience): string => {
  if (audience === 'everybody') return 'all';
  return audience === 'secret key' ? 'secret' : `user-${hash('sha256', audience.userId).slice(0, 32)}`;
};

/**
 * A channel belongs to one making of a collection, and to what it requires: who subscribed to it before hears no more.
 */
export const channelOf = ({ id = '', rls }: Collection, audience: Audience): string =>
  `/${channelNamespace}/${id}/${requiresFactor(rls) ? 'mfa-' : ''}${segmentOf(audience)}`;

/** The channel of what a caller may list, who has been let in: of a private collection the user's own. */
export const channelFor = (collection: Collection, { kind, userId = '' }: Caller): string => {
  if (!isPrivate(collection.rls)) return channelOf(collection, 'everybody');
  return channelOf(collection, kind === 'secret' ? 'secret key' : { userId });
};
