/** Files of `mongodb/lib` that no bundle contains, by the reason. */
export const leftOut: Readonly<Record<string, readonly string[]>> = {
  'client-side encryption is an option that no client of ours has': ['encrypter.js'],
  'change streams need a connection that stays open, which no function has': ['change_stream.js'],
  'accounts sign in by SCRAM alone: a URI of a project may name nothing else, and that of the deployment is tried': [
    'cmap/auth/mongodb_aws.js',
    'cmap/auth/mongodb_oidc.js',
    'cmap/auth/mongodb_oidc/automated_callback_workflow.js',
    'cmap/auth/mongodb_oidc/human_callback_workflow.js',
    'cmap/auth/mongodb_oidc/token_cache.js',
  ],
  'writes go to one collection each': ['operations/client_bulk_write/executor.js'],
  'the server itself, its users and its profiler are their operators’': [
    'admin.js',
    'operations/profiling_level.js',
    'operations/remove_user.js',
    'operations/set_profiling_level.js',
  ],
  'no route asks for these commands': [
    'cursor/list_search_indexes_cursor.js',
    'cursor/run_command_cursor.js',
    'operations/distinct.js',
    'operations/rename.js',
    'operations/search_indexes/create.js',
    'operations/search_indexes/drop.js',
    'operations/search_indexes/update.js',
    'operations/stats.js',
  ],
};
