import { schema as words } from '../../text/schema.ts';
import type { SchemaChange } from './schema-changes.ts';

/** What saving changes, one line each. */
export const ChangeList = ({ changes }: { readonly changes: readonly SchemaChange[] }) =>
  changes.length === 0 ? (
    <p class="muted small">{words.changes.none}</p>
  ) : (
    <section class="changes" aria-label={words.changes.title}>
      <h2 class="small muted">{words.changes.title}</h2>
      <dl tabIndex={0} aria-label={words.changes.title}>
        {changes.map(({ name, label, before, after, note }, place) => (
          <div key={place}>
            <dt class="mono">{name}</dt>
            <dd>
              {label && <>{label}: </>}
              {before !== undefined && <del>{before}</del>}
              {before !== undefined && after !== undefined && ' → '}
              {after !== undefined && <ins>{after}</ins>}
              {note && <span class="muted"> {note}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
