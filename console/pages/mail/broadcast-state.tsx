import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { type ProviderRecord, textIn } from './provider.ts';

const states: Readonly<Record<string, string>> = t.mail.broadcastStates;

/** The state of a broadcast. Unknown states are shown as the provider calls them. */
export const BroadcastState = ({ broadcast }: { readonly broadcast: ProviderRecord }) => {
  const status = textIn(broadcast, 'status');
  return <Badge {...(status === 'sent' ? { kind: 'good' } : {})}>{states[status] ?? status}</Badge>;
};
