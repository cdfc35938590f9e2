import { useLocation } from 'preact-iso/router';
import { t } from '../text/words.ts';
import { addressWith } from './address.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { chosenSizes, pageOf } from './page-size.ts';

interface Props {
  readonly shown: number;
  readonly total: number;
  readonly capped?: boolean;
}

/** The range of the shown page, and ways to others. It stays in sight while the list scrolls. */
export const Pager = ({ shown, total, capped = false }: Props) => {
  const { path, query, route } = useLocation();
  const { page, size } = pageOf(query);
  const from = (page - 1) * size + 1;
  // If the list has become shorter than the requested page, this leads back to its end.
  const before = shown > 0 ? page - 1 : Math.max(1, Math.min(page - 1, Math.ceil(total / size)));
  const go = (to: number) => route(addressWith(path, query, { page: to === 1 ? undefined : String(to) }));
  const isOnly = page === 1 && shown < size;
  return (
    <>
      <span>{t.documents.total(from, from + shown - 1, total, capped)}</span>
      {!isOnly && (
        <>
          <Button kind="plain" aria-label={t.pager.before} disabled={page <= 1} onClick={() => go(before)}>
            <Icon name="before" />
          </Button>
          <Button kind="plain" aria-label={t.pager.after} disabled={shown < size} onClick={() => go(page + 1)}>
            <Icon name="after" />
          </Button>
        </>
      )}
      {total > chosenSizes[0] && (
        <label class="row page-size">
          {t.pager.size}
          <select
            class="input"
            value={String(size)}
            onInput={({ currentTarget: { value } }) =>
              route(addressWith(path, query, { limit: value, page: undefined }))
            }
          >
            {[...new Set([...chosenSizes, size])]
              .sort((a, b) => a - b)
              .map((one) => (
                <option key={one} value={String(one)}>
                  {one}
                </option>
              ))}
          </select>
        </label>
      )}
    </>
  );
};
