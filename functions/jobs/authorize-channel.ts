/** Called by AppSync Events before a subscription. */
export { authorizeChannel as handler } from '../../shared/realtime/channels.ts';
