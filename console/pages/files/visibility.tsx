import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';

export const Visibility = ({ file }: { readonly file: Pick<Item<'list-files'>, 'visibility'> }) =>
  file.visibility === 'private' ? <Badge>{t.files.private}</Badge> : null;
