import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { type ProviderRecord, textIn } from './provider.ts';

const states: Readonly<Record<string, string>> = t.mail.broadcastStates;

/** How a broadcast stands; what the provider calls otherwise is shown as it calls it. */
export const BroadcastState = ({ broadcast }: { readonly broadcast: ProviderRecord }) => {
  const status = textIn(broadcast, 'status');
  return <Badge {...(status === 'sent' ? { kind: 'good' } : {})}>{states[status] ?? status}</Badge>;
};
