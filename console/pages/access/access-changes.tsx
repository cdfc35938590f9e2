import type { Collection } from '../../../shared/collections/collection.ts';
import { access } from '../../text/access.ts';
import { type Access, accessLines, accessRows, kindOf } from './access-kinds.ts';
import { Explained } from './explained.tsx';

interface Props {
  readonly collection: Collection;
  readonly known: readonly Collection[];
  readonly next: Access;
  readonly isChanged: boolean;
}

/** Who can read and write now, and after saving. */
export const AccessChanges = ({ collection, known, next, isChanged }: Props) => {
  if (!isChanged) return <p class="muted small">{access.noChanges}</p>;
  const before = accessLines(collection.rls, collection, known);
  const after = accessLines(next, collection, known);
  const losesRules = kindOf(collection.rls) === 'rules' && kindOf(next) !== 'rules';
  const changed = accessRows.filter((row) => JSON.stringify(before[row]) !== JSON.stringify(after[row]));
  return (
    <section class="changes" aria-label={access.changes}>
      <h2 class="small muted">{access.changes}</h2>
      {losesRules && <p class="note warning">{access.losesRules}</p>}
      {changed.length === 0 ? (
        <p class="small">{access.changed}</p>
      ) : (
        <dl tabIndex={0} aria-label={access.changes}>
          {changed.map((row) => (
            <div key={row}>
              <dt>{access.rows[row]}</dt>
              <dd>
                <span class="spoken">{access.now}</span>
                <del>
                  <Explained sentences={before[row] ?? [access.unclear]} />
                </del>
              </dd>
              <dd class="next">
                <span class="spoken">{access.next}</span>
                <span aria-hidden="true">→</span>
                <ins>
                  <Explained sentences={after[row] ?? [access.unclear]} />
                </ins>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
};
