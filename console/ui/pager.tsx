import { t } from '../text/words.ts';
import { Button } from './button.tsx';

interface Props {
  readonly page: number;
  readonly size: number;
  readonly shown: number;
  readonly total: number;
  readonly capped: boolean;
  readonly onPage: (page: number) => void;
}

export const Pager = ({ page, size, shown, total, capped, onPage }: Props) => {
  const from = (page - 1) * size + 1;
  // If the list has become shorter than the requested page, this leads back to its end.
  const before = shown > 0 ? page - 1 : Math.max(1, Math.min(page - 1, Math.ceil(total / size)));
  return (
    <>
      <span>{t.documents.total(from, from + shown - 1, total, capped)}</span>
      <Button kind="plain" aria-label={t.pager.before} disabled={page <= 1} onClick={() => onPage(before)}>
        ←
      </Button>
      <Button kind="plain" aria-label={t.pager.after} disabled={shown < size} onClick={() => onPage(page + 1)}>
        →
      </Button>
    </>
  );
};
