import type { Item } from '../../api/rows.ts';
import { files } from '../../text/files.ts';
import { Badge } from '../../ui/badge.tsx';

export const Visibility = ({ file }: { readonly file: Pick<Item<'list-files'>, 'visibility'> }) => (
  <Badge>{files[file.visibility]}</Badge>
);
