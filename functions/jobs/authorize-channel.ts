/** What the Event API of live updates asks before it lets somebody in. */
export { authorizeChannel as handler } from '../../shared/realtime/channels.ts';
