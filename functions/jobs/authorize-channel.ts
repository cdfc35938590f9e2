import {
  authorizeChannel,
  type ChannelDecision,
  type ChannelRequest,
} from '../../shared/realtime/authorize-channel.ts';

/** What the Event API of live updates asks before it lets somebody in. */
export const handler = (request: ChannelRequest): Promise<ChannelDecision> => authorizeChannel(request);
