import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';

const kinds = {
  queued: undefined,
  sent: undefined,
  delivered: 'good',
  bounced: 'danger',
  complained: 'danger',
  failed: 'danger',
} as const;

export const MailState = ({ status }: Pick<Data<'list-project-mail-logs'>[number], 'status'>) => {
  const kind = kinds[status];
  return <Badge {...(kind ? { kind } : {})}>{t.mail.states[status]}</Badge>;
};
