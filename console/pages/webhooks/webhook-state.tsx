import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';

export const OnOrOff = ({ enabled }: { readonly enabled: boolean }) => (
  <Badge kind={enabled ? 'good' : 'warning'}>{enabled ? t.webhooks.on : t.webhooks.off}</Badge>
);

const kinds = { waiting: undefined, delivered: 'good', failed: 'danger' } as const;

export const DeliveryState = ({ state }: Pick<Item<'list-webhook-deliveries'>, 'state'>) => {
  const kind = kinds[state];
  return <Badge {...(kind ? { kind } : {})}>{t.webhooks.states[state]}</Badge>;
};
