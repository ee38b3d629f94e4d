/**
 * How long a connection without a request is kept. Node's 5 s are over while a process is held up by its own work: it
 * would then close the connection before it reads the request that came in the meantime, and the client sees a reset.
 * The longest is that of API Gateway and of load balancers, a minute or more.
 */
export const KEPT_CONNECTIONS = { keepAliveTimeout: 75_000 } as const;
