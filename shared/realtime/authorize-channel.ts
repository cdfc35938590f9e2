import { channelsIn } from './ticket.ts';

/** What the Event API asks before somebody connects, subscribes or publishes. */
export interface ChannelRequest {
  readonly authorizationToken: string;
  readonly requestContext: {
    readonly operation: string;
    /** Not there of a connection. */
    readonly channel?: string | null;
  };
}

/** `ttlOverride` 0: what is let in for one channel is not for another one. */
export interface ChannelDecision {
  readonly isAuthorized: boolean;
  readonly ttlOverride: 0;
}

const isGranted = async ({ authorizationToken, requestContext }: ChannelRequest): Promise<boolean> => {
  const channels = await channelsIn(authorizationToken);
  if (!channels) return false;
  const { operation, channel } = requestContext;
  if (operation === 'EVENT_CONNECT') return true;
  return operation === 'EVENT_SUBSCRIBE' && channels.includes(`/${(channel ?? '').replace(/^\//, '')}`);
};

/** Lets a good ticket connect, and subscribe to the very channels that it names: no wildcard is one. None publishes. */
export const authorizeChannel = async (request: ChannelRequest): Promise<ChannelDecision> => ({
  isAuthorized: await isGranted(request),
  ttlOverride: 0,
});
