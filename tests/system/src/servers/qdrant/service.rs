/// Implements a server trait of the driver for `Shared`. A known call is answered by a function that gets the request,
/// and any other call by an error that names it.
macro_rules! service {
    (
        $trait:path;
        known { $($known:ident($request:ty) -> $answer:ty = $function:ident;)* }
        others { $($other:ident($asked:ty) -> $never:ty;)* }
    ) => {
        #[tonic::async_trait]
        impl $trait for super::state::SharedState {
            $(
                async fn $known(
                    &self,
                    request: tonic::Request<$request>,
                ) -> Result<tonic::Response<$answer>, tonic::Status> {
                    let request = self.enter(request).await?;
                    self.timed(|| self.$function(request)).map(tonic::Response::new)
                }
            )*
            $(
                async fn $other(
                    &self,
                    request: tonic::Request<$asked>,
                ) -> Result<tonic::Response<$never>, tonic::Status> {
                    self.enter(request).await?;
                    let what = concat!("the stand-in does not know the call ", stringify!($other));
                    Err(tonic::Status::unimplemented(what))
                }
            )*
        }
    };
}

pub(super) use service;
