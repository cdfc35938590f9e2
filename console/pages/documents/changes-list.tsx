import { t } from '../../text/words.ts';
import { Copy } from '../../ui/copy.tsx';
import { Cell } from './cell.tsx';
import type { Change } from './document-draft.ts';

/** The operator that adds the same to a Number, for apps that count; `undefined` for other changes. */
const counterOf = ({ key, before, after }: Change): string | undefined => {
  if (typeof before !== 'number' || typeof after !== 'number' || !Number.isSafeInteger(after - before))
    return undefined;
  return JSON.stringify({ $inc: { [key]: after - before } });
};

const Counter = ({ operator }: { readonly operator: string }) => (
  <dd class="counter row small muted">
    <span>
      {t.documents.counter} <code>{operator}</code>
    </span>
    <Copy text={operator} />
  </dd>
);

export const ChangesList = ({ changes }: { readonly changes: readonly Change[] }) =>
  changes.length === 0 ? (
    <p class="muted small">{t.documents.noChanges}</p>
  ) : (
    <section class="changes" aria-label={t.documents.changes}>
      <h3 class="small muted">{t.documents.changes}</h3>
      <dl>
        {changes.map((change) => {
          const { key, before, after } = change;
          const operator = counterOf(change);
          return (
            <div key={key}>
              <dt class="mono">{key}</dt>
              <dd>
                <del>
                  <Cell value={before} />
                </del>{' '}
                →{' '}
                <ins>
                  <Cell value={after} />
                </ins>
              </dd>
              {operator && <Counter operator={operator} />}
            </div>
          );
        })}
      </dl>
    </section>
  );
